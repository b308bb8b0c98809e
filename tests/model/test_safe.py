"""Safe text: nothing an agent writes can do more to a terminal than be read."""

import json
import time
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.model.safe import defused, defused_json, safe, safe_json, without_sequences

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u200e\u200f\u061c"  # of direction
DANGERS = (
    "\x1b]0;title\x07\x1b[2J\x9b31m\x90\x9d\x9c\x7f\x00\r\x08\u202e\u2066\u2028\ufeff"
    "\ud800\U000e0041\ufff9"
)


def is_unsafe(character: str) -> bool:
    return character not in "\n\t" and (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in REORDERING
        or character in MARKS + "\ufeff"
        or "\ufff9" <= character <= "\ufffb"
        or "\U000e0000" <= character <= "\U000e007f"
    )


any_text = st.text(st.characters() | st.sampled_from(DANGERS + MARKS))


@steady
@given(any_text)
def test_nothing_unsafe_survives(text: str) -> None:
    assert not any(map(is_unsafe, safe(text)))
    safe(text).encode()


@steady
@given(any_text)
def test_nothing_is_lost_and_nothing_safe_is_changed(text: str) -> None:
    pairs = list(zip(text, safe(text), strict=True))
    assert all(is_unsafe(before) for before, after in pairs if before != after)


@steady
@given(any_text)
def test_safe_text_is_left_as_it_is(text: str) -> None:
    assert safe(safe(text)) == safe(text)


def test_every_character_there_is_comes_out_safe() -> None:
    everything = "".join(map(chr, range(0x110000)))
    changed = [b for b, a in zip(everything, safe(everything), strict=True) if a != b]
    assert changed == [character for character in everything if is_unsafe(character)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("100%\rdone", "100%␍done"),
        ("a\x00b\x7fc", "a␀b␡c"),
        ("\x9b2J", "\ufffd2J"),
        ("user\u202egpj.exe", "user\ufffdgpj.exe"),
        ("\ud83d", "\ufffd"),
    ],
)
def test_what_was_unsafe_can_be_seen(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "two\nlines\tand a tab",
        "👩‍👩‍👧‍👦 👍🏽 ❤️ 🇨🇭",
        "क्‍ष ശ്രീ നന്‍",
        "שלום مرحبا",
        "e\u0301 ñ 你好 한국어",
        "",
    ],
)
def test_text_of_any_script_is_left_as_it_is(text: str) -> None:
    assert safe(text) == text


JSON = st.recursive(any_text, lambda inner: st.lists(inner) | st.dictionaries(any_text, inner))


@steady
@given(JSON)
def test_json_keeps_its_values_when_it_is_made_safe(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert json.loads(safe_json(text)) == value
    assert not any(map(is_unsafe, safe_json(text)))


CI_COMMANDS = (
    "::error::x",
    "::warning file=a.js,line=1::x",
    "::set-output name=a::b",
    "::STOP-commands::token",
    "##vso[task.complete]",
    "##[group]x",
    "##TeamCity[x]",
    "section_end:15:name",
    "travis_fold:start:x",
)


@pytest.mark.parametrize("command", CI_COMMANDS)
@pytest.mark.parametrize("before", ["", " ", "\t", '[claude] "', "text\n", "a.b "])
def test_a_command_for_ci_is_broken(command: str, before: str) -> None:
    assert command not in defused(before + command)
    assert defused(before + command).replace(" ", "") == (before + command).replace(" ", "")
    text = json.dumps(before + command)
    assert command not in defused_json(text)
    assert json.loads(defused_json(text)) == before + command


@pytest.mark.parametrize(
    "text",
    [
        "std::vector<int>::iterator and io::error::Error",
        "Foo::bar::baz()",
        "## Heading [link]",
        "a::b",
        "::1 and fe80::1",
        "--- a/file",
        "ratio 1::2",
    ],
)
def test_what_only_looks_like_a_command_for_ci_stays(text: str) -> None:
    assert defused(f"see {text}") == f"see {text}"
    assert defused_json(text) == text


@steady
@given(st.lists(any_text | st.sampled_from(CI_COMMANDS)).map("".join))
def test_no_line_starts_as_a_command_does(text: str) -> None:
    for line in defused(safe(text), headings=True).split("\n"):
        assert not line.lstrip().startswith("::")
        assert not line.startswith(("--- ", "+++ ", "~~~ "))
        assert "##[" not in line
        assert "##vso[" not in line.lower()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[2mERROR\x1b[0m \x1b[38;5;9mno\x1b[m", "ERROR no"),
        ("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b[2K\x1b[1Gline\x1b(B\x1b7", "line"),
        ("\x9b31mred", "red"),
        ("\x1b]0;never ended\nnext", "\x1b]0;never ended\nnext"),
        ("plain [0m text", "plain [0m text"),
    ],
)
def test_whole_terminal_sequences_are_removed_before_text_is_compared(text: str, left: str) -> None:
    assert without_sequences(text) == left


@pytest.mark.parametrize(
    "piece", ["\x1b", "\x1b[", "\x1b]", "\x1b[0;", "\x1b(", "\x9b0 ", "\x1b]x\x1b", "\x9d"]
)
def test_sequences_that_never_end_cost_linear_time(piece: str) -> None:
    def spent(times: int) -> float:
        started = time.process_time()
        without_sequences(piece * times + "0" * times)
        return time.process_time() - started

    spent(1000)
    assert spent(400_000) < 50 * max(spent(40_000), 0.002)
