"""The steps of a loop as lines of text."""

import pytest

from nightrook.display import loops
from nightrook.loops.ceilings import Ceilings
from nightrook.loops.events import Decision, IterationFinished
from nightrook.loops.plan import Goal, make_plan

PLAN = make_plan(
    agent="claude",
    cwd="/",
    goal=Goal(ask_done=True),
    model="opus",
    allow=("Bash(ls)",),
    args=("--add-dir", "/x"),
)


def plain(_: str, text: str) -> str:
    return text


def switched(agent: str) -> list[str]:
    event = Decision(at=0.0, step="switch", rule="limits", reason="a limit", agent=agent)
    return list(loops.lines(event, PLAN, plain))


def test_a_switch_says_what_the_other_agent_is_not_given() -> None:
    assert switched("codex") == [
        "switches to codex · a limit",
        "without --model, --allow, the arguments --add-dir /x, which codex may not support",
    ]
    assert switched("claude") == ["switches to claude · a limit"]


@pytest.mark.parametrize(("checks", "colour"), [((), "good"), (("make test",), None)])
def test_a_run_that_is_not_checked_yet_is_not_shown_as_good(
    checks: tuple[str, ...], colour: str | None
) -> None:
    plan = make_plan(agent="claude", cwd="/", goal=Goal(until="DONE", checks=checks))
    ended = IterationFinished(
        at=0.0, iteration=1, attempt=1, agent="claude", status="success", sentence="", duration_s=1
    )
    (line,) = loops.lines(ended, plan, lambda style, text: f"<{style}>{text}")
    assert line.startswith(f"<{colour}>success" if colour else "success")


def test_an_iteration_that_was_not_started_has_no_unknown_cost() -> None:
    plan = make_plan(agent="claude", cwd="/", goal=Goal(until="DONE"))
    ended = IterationFinished(
        at=0.0,
        iteration=1,
        attempt=1,
        agent="claude",
        status="not_started",
        sentence="program 'claude' was not found",
        run="k7f3",
        duration_s=0.1,
    )
    (line,) = loops.lines(ended, plan, lambda _style, text: text)
    assert line == "not started · 0.1s · rook show k7f3"


def test_one_is_told_in_the_singular() -> None:
    told = loops.ceilings(Ceilings(iterations=1, turns=1))
    assert told.startswith("1 iteration · ")
    assert told.endswith(" · 1 turn")
