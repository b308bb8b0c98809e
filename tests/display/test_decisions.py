"""The answers to what an agent asks, and how they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.display.decisions import chosen, decided, outcome
from nightrook.model.events import PermissionRequested
from nightrook.model.questions import About, By, Decision, Option, Question
from nightrook.model.records import Record
from nightrook.store.decisions import Decided

WHICH = Question(
    text="Which database?",
    options=(Option(label="SQLite", description="small"), Option(label="Postgres")),
)


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
def test_a_decision_is_shown_without_control_characters(text: str, by: By) -> None:
    evil = f"{text}\x1b]0;x\x07\r\u202e\x9b1m\n{text}"
    decision = Decision(allow=True, answers={evil: evil}, reason=evil, by=by)
    made = Decided(at=0.0, id=evil, name=evil, title=evil, decision=decision, waited_s=0.0)
    record = Record(0, None, 0, 0, PermissionRequested(id=evil))
    shown = [outcome("questions", decision), *decided(record, {evil: made})]
    assert not [c for line in shown for c in line if ord(c) < 32 or 127 <= ord(c) < 160]
    assert not [line for line in shown if "\u202e" in line]
