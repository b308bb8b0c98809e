"""Text: one line of at most so many characters."""

import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.model.text import cut, first_line, one_line, suggested

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("one", "one"),
        (" a\n\tb\r\n c\u2028d \x85", "a b c d"),
        ("0123456789", "0123456789"),
        ("0123456789a", "0123456..."),
        ("ñandú, ñandú", "ñandú, ..."),
        ("x" * 10_000_000, "xxxxxxx..."),
        ("a" + " " * 10_000_000 + "b", "a ..."),
        (" " * 10_000_000 + "b", "..."),
        (" " * 500, ""),
    ],
)
def test_text_is_put_on_one_line(text: str, line: str) -> None:
    assert one_line(text, 10) == line


@pytest.mark.parametrize(
    ("most", "left"), [(7, "abcdef"), (6, "abcdef"), (5, "ab..."), (3, "..."), (2, ".."), (0, "")]
)
def test_what_is_too_long_ends_in_dots(most: int, left: str) -> None:
    assert cut("abcdef", most) == left


@steady
@given(st.text(), st.integers(0, 20))
def test_one_line_is_short_and_holds_no_white_space_but_single_spaces(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert line.split() == line.split(" ") or not line or line.endswith("...")
    assert all(character == " " or not character.isspace() for character in line)


@steady
@given(st.text(), st.integers(0, 20))
def test_a_cut_text_begins_as_the_text_did(text: str, most: int) -> None:
    left = cut(text, most)
    assert len(left) <= most
    assert left == text or text.startswith(left[: max(most - 3, 0)])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("\n  one \ntwo", "one"),
        ("0123456789 more", "0123456..."),  # the cut is marked even where a word ends
        ("0123456789 \nmore", "0123456789"),
        (" " * 10_000 + "0123456789a", "0123456..."),
    ],
)
def test_the_first_line_is_cut_only_if_it_is_too_long(text: str, line: str) -> None:
    assert first_line(text, 10) == line


@steady
@given(st.lists(st.text()))
def test_a_suggested_command_has_each_word_as_it_is(words: list[str]) -> None:
    assert shlex.split(suggested("show", *words)) == ["rook", "show", *words]


def test_a_suggested_command_is_as_one_would_type_it() -> None:
    assert suggested("show", "k7f3", "--full") == "rook show k7f3 --full"
