"""The report of a loop."""

import pytest

from nightrook.display.loops import LoopView
from nightrook.display.reports.loop import loop_report
from nightrook.display.reports.markdown_report import markdown_report
from nightrook.loops.plan import Goal, make_plan
from nightrook.loops.state import Attempt, Check, LoopState, Report
from nightrook.model.status import Outcome


@pytest.mark.parametrize(
    ("outcome", "check", "status"),
    [
        ("success", True, "success"),
        ("success", False, "not_done"),
        ("denied", True, "denied"),
        ("denied", False, "denied"),
    ],
)
def test_an_iteration_with_a_failed_check_is_never_reported_as_a_success(
    outcome: Outcome, check: bool, status: str
) -> None:
    run = Report(status=outcome, sentence="", started_at=0.0, ended_at=1.0)
    checks = (Check(command="make", ok=check),)
    attempt = Attempt(id=1, iteration=1, agent="claude", report=run, checks=checks)
    state = LoopState(started_at=0.0, agent="claude", attempts=(attempt,))
    plan = make_plan(agent="claude", cwd="/", goal=Goal(until="DONE", checks=("make",)))
    view = LoopView(name="loop-x", plan=plan, state=state, is_running=False, now=1.0)
    report = loop_report(view, lambda _: None)
    (part,) = report.parts
    assert (part.status, part.ok) == (status, status == "success")
    assert f"`iteration 1`: {status.replace('_', ' ')} · " in markdown_report(report)
