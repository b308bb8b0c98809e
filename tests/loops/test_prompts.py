"""The prompt of an iteration."""

from pathlib import Path
from typing import Any

import pytest

from nightrook.loops.plan import Goal, make_plan
from nightrook.loops.prompts import VARIABLES, prompt_for, unknown_variables
from nightrook.loops.state import Attempt, Check, Report


def before(answer: str | None = None, *checks: Check) -> Attempt:
    report = Report(status="success", sentence="done", started_at=0, ended_at=1, answer=answer)
    return Attempt(id=1, iteration=1, agent="claude", report=report, checks=checks)


def prompt(text: str, last: Attempt | None = None, **options: Any) -> str:
    options.setdefault("goal", Goal(until="DONE"))
    plan = make_plan(agent="claude", cwd="/", **options)
    return prompt_for(plan, text, iteration=2, nonce="DONE-1", previous=last, left="3, $1")


FAILED = Check(command="pytest -q", ok=False, exit_code=1, output="1 failed\n")
TOLD = "The last attempt did not pass this check:\n$ pytest -q\n1 failed"


def test_a_prompt_without_variables_is_as_it_is() -> None:
    assert prompt("Fix {it} {{ and }} {0}") == "Fix {it} {{ and }} {0}"


def test_every_variable_is_filled_in() -> None:
    text = "{{iteration}}/{{max_iterations}} {{last_answer}} {{ check_output }} {{left}}"
    assert prompt(text, before("hm", FAILED)) == f"2/20 hm {TOLD} 3, $1"
    assert unknown_variables(text) == []


def test_an_unknown_variable_is_left_and_named() -> None:
    assert prompt("Do {{this}}") == "Do {{this}}"
    assert unknown_variables("Do {{this}} {{iteration}}") == ["this"]


def test_what_others_wrote_is_never_a_template() -> None:
    assert prompt("A {{last_answer}}", before("{{left}}")) == "A {{left}}"


@pytest.mark.parametrize(
    ("feed", "made"),
    [
        ("append", f"Fix it\n\n{TOLD}"),
        ("prepend", f"{TOLD}\n\nFix it"),
        ("replace", TOLD),
        ("none", "Fix it"),
    ],
)
def test_where_the_output_of_a_failed_check_goes(feed: Any, made: str) -> None:
    assert prompt("Fix it", before(None, FAILED), feed=feed) == made


def test_a_check_that_passed_is_not_fed() -> None:
    passed = Check(command="true", ok=True, output="fine")
    assert prompt("Fix it", before(None, passed)) == "Fix it"


def test_what_is_fed_is_bounded_and_its_end_is_kept() -> None:
    long = Check(command="x", ok=False, output="é" * 50_000 + "\nthe end")
    made = prompt("Fix it", before("a" * 50_000, long), feed_bytes=1000)
    assert len(made.encode()) < 1100
    assert made.endswith("the end")
    assert len(prompt("{{last_answer}}", before("a" * 50_000), feed_bytes=1000)) < 1100


def test_the_word_that_says_done_is_asked_for_last() -> None:
    made = prompt("Fix it", before(None, FAILED), goal=Goal(ask_done=True))
    assert made.startswith("Fix it\n\nThe last attempt")
    assert made.endswith("\nDONE-1")


def test_each_variable_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "loops.md").read_text(encoding="utf-8")
    assert [name for name in VARIABLES if "`{{" + name + "}}` (" not in page] == []
