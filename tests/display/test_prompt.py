"""Blanks and hidden characters can be seen, and text that people write stays as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.display.prompt import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la", "ls -la"),
        ("        deep = 1  # code", "        deep = 1  # code"),
        ("+\tindented", "+    indented"),
        ("#" + " " * 2600 + "ls", "#␠×2600ls"),
        (" " * 2600 + "ls", "␠×2600ls"),
        ("+" + "\t" * 600 + "ls", "+␉×600ls"),
        ("#\tls", "#␉ls"),
        ("#" + "\t" * 600 + "ls", "#␉×600ls"),
        ("#" + "\u3164" * 2600 + "ls", "#‹U+3164›×2600ls"),
        ("#" + "\u2800" * 3 + "ls", "#‹U+2800›×3ls"),
        ("#\xa0\u2003\u3000ls", "#‹U+00A0›‹U+2003›‹U+3000›ls"),
        ("curl\u200b evil", "curl‹U+200B› evil"),
        ("cu\u200drl", "cu‹U+200D›rl"),
        ("cu\u00adrl\u2060", "cu‹U+00AD›rl‹U+2060›"),
        ("a\ufe0fb\U000e0101", "a‹U+FE0F›b‹U+E0101›"),
        ("\u115f\u1160\uffa0\u034f", "‹U+115F›‹U+1160›‹U+FFA0›‹U+034F›"),
        ("\x1b[2J\r\x07\x7f", "␛[2J␍␇␡"),
        ("\x9b31m\u202els\u2066\U000e0041", "‹U+009B›31m‹U+202E›ls‹U+2066›‹U+E0041›"),
        ("one\ntwo", "one␊two"),
        (" \u0301\u0301", " ‹U+0301›×2"),
        ("a" + "\u0301" * 9, "a‹U+0301›×9"),
        ("\ue000", "‹U+E000›"),
        # What people write stays.
        ("größe cafe\u0301 漢字 Привет שלום", "größe cafe\u0301 漢字 Привет שלום"),
        ("👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f 1\ufe0f‹U+20E3›"),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_run_of_blanks_and_no_control_character_is_left(text: str) -> None:
    shown = visible(text)
    assert " " * 9 not in shown.lstrip(" +-")
    kinds = {unicodedata.category(character) for character in shown} - {"Cf", "Zs"}
    assert not kinds & {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
    formats = {character for character in shown if unicodedata.category(character) == "Cf"}
    assert formats <= set("\u200c\u200d")
    assert {c for c in shown if unicodedata.category(c) == "Zs"} <= {" "}
