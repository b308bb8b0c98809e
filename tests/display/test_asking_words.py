"""What is asked of a person, in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.terminals import COLOURS

from rookery.display.asking import Words, chosen, decided, outcome
from rookery.display.console.paint import Paint
from rookery.model.events import PermissionRequested
from rookery.model.questions import About, Ask, By, Decision, Option, Question
from rookery.model.records import Record
from rookery.store.decisions import Decided

WHICH = Question(
    text="Which database?",
    options=(Option(label="SQLite", description="small"), Option(label="Postgres")),
)


def words(ask: Ask, limit_s: float | None = 30) -> Words:
    return Words("claude", ask, cwd="/home/dev/project", home="/home/dev", limit_s=limit_s)


def asked(ask: Ask, limit_s: float | None = 30) -> list[str]:
    said = words(ask, limit_s)
    return [*said.lines(), said.keys()]


def test_a_command_is_asked_for_as_the_design_shows_it() -> None:
    ask = Ask(
        id="1",
        name="Bash",
        kind="execute",
        title="rm -rf build/",
        purpose="clean build folder",
        always="Bash(rm -rf build/)",
    )
    assert asked(ask) == [
        "[claude] wants to run  Bash: rm -rf build/",
        "         in ~/project · because: clean build folder",
        "         [y] once  [a] always in this run  [n] no  [e] no, and say why  (30s, then no)",
    ]


def test_a_rule_that_is_wider_than_the_call_is_told_before_it_is_given() -> None:
    ask = Ask(id="1", name="Bash", kind="execute", title="touch a", always="Bash(touch *)")
    assert "[a] always in this run (Bash(touch *))" in asked(ask)[-1]


def test_a_change_is_shown_by_its_lines_and_a_path_as_seen_from_the_folder() -> None:
    ask = Ask(
        id="1",
        name="Edit",
        kind="edit",
        title="/home/dev/project/src/a.py",
        detail=("-old", "+new"),
        reason="Path is sensitive",
    )
    assert asked(ask, None) == [
        "[claude] wants to edit  Edit: src/a.py",
        "         -old",
        "         +new",
        "         needs approval: Path is sensitive",
        "         [y] once  [n] no  [e] no, and say why",
    ]


def test_colours_change_no_word_and_tell_lines_that_go_from_those_that_come() -> None:
    ask = Ask(id="1", name="Edit", kind="edit", title="a.py", detail=("-old", "+new", " same"))
    plain = asked(ask)
    said = Words("claude", ask, cwd="/", home="/x", limit_s=30, paint=Paint(colour=True))
    painted = [*said.lines(), said.keys()]
    assert [COLOURS.sub("", line) for line in painted] == plain
    assert painted[1:4] == [
        "         \x1b[31m-old\x1b[0m",
        "         \x1b[32m+new\x1b[0m",
        "          same",
    ]


def test_a_command_of_many_lines_is_shown_line_by_line_and_its_cut_is_told() -> None:
    title = "\n".join(f"echo {number}" for number in range(13))
    said = words(Ask(id="1", name="Bash", kind="execute", title=title), 300)
    lines = list(said.lines())
    assert lines[0] == "[claude] wants to run  Bash:"
    assert lines[1:13] == [f"         echo {number}" for number in range(12)]
    assert lines[13] == "         … 1 more line"
    assert said.keys().endswith("[v] see all of it  (5m, then no)")
    assert "         echo 12" in said.lines(whole=True)


def test_keys_that_do_not_fit_are_broken_between_two() -> None:
    ask = Ask(id="1", name="Edit", kind="edit", title="a.py", always="all edits in this folder")
    said = Words("claude", ask, cwd="/", home="/x", limit_s=300, paint=Paint(colour=True))
    for columns in (40, 60, 80, 96, 200):
        lines = [COLOURS.sub("", line) for line in said.keys(columns).split("\n")]
        assert all(line.startswith("         [") or "then no" in line for line in lines)
        assert " ".join("".join(lines).split()) == " ".join(COLOURS.sub("", said.keys()).split())
        assert columns < 60 or max(map(len, lines)) <= columns


def test_a_tool_nobody_knows_is_asked_for_with_all_it_is_given() -> None:
    ask = Ask(id="1", name="mcp__db__drop", title='{"table":"users"}')
    assert asked(ask)[0] == '[claude] wants to use  mcp__db__drop: {"table":"users"}'


def test_a_plan_is_shown_and_can_only_be_approved_or_not() -> None:
    assert asked(Ask(id="1", about="plan", detail=("# Plan", "1. Do it"))) == [
        "[claude] has a plan:",
        "         # Plan",
        "         1. Do it",
        "         [y] yes, continue  [n] no  [e] no, and say why  (30s, then no)",
    ]
    assert asked(Ask(id="1", about="plan"))[0] == "[claude] wants to continue with its plan"


def test_a_question_is_shown_with_its_answers() -> None:
    ask = Ask(id="1", about="questions", questions=(WHICH,))
    assert list(words(ask).question(WHICH)) == [
        "[claude] asks: Which database?",
        "         [1] SQLite: small",
        "         [2] Postgres",
        "         a number, or your own words, or nothing for no answer  (30s, then no answer)",
    ]


@pytest.mark.parametrize(
    ("text", "several", "answer"),
    [
        ("2", False, "Postgres"),
        (" 1 ", False, "SQLite"),
        ("1,2", True, "SQLite, Postgres"),
        ("2 2 1", True, "Postgres, SQLite"),
        ("1,2", False, None),
        ("0", False, None),
        ("3", True, None),
        ("DuckDB 2", False, "DuckDB 2"),
        ("²", False, "²"),
        ("", False, ""),
    ],
)
def test_an_answer_is_a_number_or_own_words(text: str, several: bool, answer: str | None) -> None:
    question = Question(text="?", options=WHICH.options, several=several)
    assert chosen(question, text) == answer


def test_a_question_without_answers_takes_any_words() -> None:
    assert chosen(Question(text="How many?"), "3") == "3"


@pytest.mark.parametrize(
    ("about", "decision", "said"),
    [
        ("tool", Decision(allow=True), "yes, once"),
        ("tool", Decision(allow=True, always=True), "yes, always in this run"),
        ("tool", Decision(allow=True, by="rule"), "yes, as decided before"),
        ("plan", Decision(allow=True), "yes"),
        ("questions", Decision(allow=True, answers={"a": "b", "c": "d"}), "b; d"),
        ("tool", Decision(allow=False), "no"),
        ("tool", Decision(allow=False, reason="use\nmake"), "no: use make"),
        ("tool", Decision(allow=False, by="timeout"), "no: not answered in time"),
        ("tool", Decision(allow=False, by="nobody"), "no: nobody is there to ask"),
    ],
)
def test_a_decision_is_told_in_a_few_words(about: About, decision: Decision, said: str) -> None:
    assert outcome(about, decision) == said


def test_a_finished_run_tells_what_was_decided_where_it_was_asked() -> None:
    yes = Decision(allow=True, by="person")
    made = Decided(at=0.0, id="r", name="Bash", title="ls " * 30, decision=yes, waited_s=1.0)
    asked = Record(0, None, 0, 0, PermissionRequested(id="r"))
    other = Record(1, None, 0, 0, PermissionRequested(id="s"))
    said = "asked: Bash: ls ls ls ls ls ls ls ls ls ls ls ls ls ls ls ls ls ... · yes, once"
    assert list(decided(asked, {"r": made})) == [said]
    assert list(decided(other, {"r": made})) == []


@given(st.text(), st.sampled_from(["person", "program", "rule", "timeout", "nobody"]))
def test_whatever_an_agent_asks_no_control_character_is_shown(text: str, by: By) -> None:
    evil = f"{text}\x1b]0;x\x07\r\u202e\x9b1m\n{text}"
    question = Question(text=evil, options=(Option(label=evil, description=evil),))
    ask = Ask(
        id=evil,
        name=evil,
        kind="execute",
        title=evil,
        detail=(evil,),
        purpose=evil,
        reason=evil,
        always=evil,
    )
    decision = Decision(allow=True, answers={evil: evil}, reason=evil, by=by)
    said = Words(evil, ask, cwd=evil, home="/", limit_s=1)
    shown = [*said.lines(), *said.lines(whole=True), said.keys(), *said.question(question)]
    made = Decided(at=0.0, id=evil, name=evil, title=evil, decision=decision, waited_s=0.0)
    record = Record(0, None, 0, 0, PermissionRequested(id=evil))
    shown += [outcome("questions", decision), *decided(record, {evil: made})]
    assert not [c for line in shown for c in line if ord(c) < 32 or 127 <= ord(c) < 160]
    assert not [line for line in shown if "\u202e" in line]
