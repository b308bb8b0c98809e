"""A loop as a table of its runs."""

from typing import Any

import pytest

from nightrook.display import loops
from nightrook.display.loops import LoopView
from nightrook.loops.events import CANNOT_EXECUTE, NOT_FOUND
from nightrook.loops.plan import Goal, make_plan
from nightrook.loops.state import Attempt, Check, LoopState, Report


def checked(*checks: Check, status: Any = "success") -> Attempt:
    report = Report(status=status, sentence="", started_at=0.0, ended_at=1.0)
    return Attempt(id=1, iteration=1, agent="claude", report=report, checks=checks)


OK = Check(command="make", ok=True, exit_code=0)
FAILED = Check(command="make", ok=False, exit_code=1)
LATE = Check(command="make", ok=False, stopped="timed_out")
CUT = Check(command="make", ok=False, stopped="interrupted")
MISSING = Check(command="make", ok=False, exit_code=NOT_FOUND)
PLAIN = Check(command="make", ok=False, exit_code=CANNOT_EXECUTE)


@pytest.mark.parametrize(
    ("attempt", "status", "check"),
    [
        (checked(), ("success", "good"), ""),
        (checked(OK), ("success", "good"), "passed"),
        (checked(OK, OK), ("success", "good"), "passed"),
        (checked(FAILED), ("not done", "note"), "failed"),
        (checked(OK, FAILED), ("not done", "note"), "1 of 2 failed"),
        (checked(FAILED, status="denied"), ("denied", "bad"), "failed"),
        (checked(LATE), ("not done", "note"), "timed out"),
        (checked(CUT), ("not done", "note"), "interrupted"),
        (checked(MISSING), ("not done", "note"), "cannot run"),
        (checked(PLAIN), ("not done", "note"), "cannot run"),
    ],
)
def test_a_failed_check_is_never_beside_a_success(
    attempt: Attempt, status: tuple[str, str], check: str
) -> None:
    assert (loops.iteration_status(attempt), loops.check_status(attempt)[0]) == (status, check)
    cells = dict(zip(loops.HEAD, loops.row(attempt), strict=True))
    assert (cells["STATUS"], cells["CHECK"]) == (status[0], check)


@pytest.mark.parametrize("checks", [(), ("make test",)])
def test_a_loop_with_checks_has_a_column_for_them(checks: tuple[str, ...]) -> None:
    plan = make_plan(agent="claude", cwd="/", goal=Goal(until="DONE", checks=checks))
    state = LoopState(started_at=0.0, agent="claude", attempts=(checked(*[OK] * len(checks)),))
    view = LoopView(name="loop-x", plan=plan, state=state, is_running=False, now=1.0)
    assert ("CHECK" in view.head) == bool(checks)
    assert [len(row) for row in view.rows] == [len(view.head)]
