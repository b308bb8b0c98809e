"""The report of a loop: its outcome, its usage, and each of its iterations."""

from collections.abc import Callable

from nightrook.display.loops import LoopView
from nightrook.display.reports.report import (
    RUNNING,
    Report,
    ReportedCheck,
    ReportedDenial,
    ReportedPart,
)
from nightrook.loops.state import Attempt, LoopState

_CUT_OFF = "rook was killed while the loop was running"


def loop_report(view: LoopView, answer_file: Callable[[str], str | None]) -> Report:
    """Report a loop; `answer_file` returns where the answer of a run is saved, if it is."""
    state = view.state
    if state is None:
        return Report(kind="loop", name=view.name, status="never started", ok=False)
    last, ending = state.last, None if view.is_running else state.ending
    run = last.report.run if last else None
    return Report(
        kind="loop",
        name=view.name,
        status=RUNNING if view.is_running else ending.status if ending else "cut_off",
        ok=ending is not None and ending.ok,
        exit_code=ending.exit_code if ending else None,
        sentence=state.reason or ("" if view.is_running else _CUT_OFF),
        prompt=view.plan.run.prompt or view.plan.prompt_file,
        agent=view.plan.run.called or state.agent,
        model=view.plan.run.model,
        duration_s=state.elapsed_s(view.now),
        spent_usd=state.known_usd,
        cost_source=state.cost_source,
        unknown_costs=state.unknown_costs,
        tokens=state.tokens or None,
        turns=state.turns or None,
        denials=_denials(state),
        parts=tuple(map(_part, state.attempts)),
        answer=last.report.answer if last else None,
        answer_file=answer_file(run) if run else None,
    )


def _part(attempt: Attempt) -> ReportedPart:
    report = attempt.report
    return ReportedPart(
        name=f"iteration {attempt.iteration}" + ("" if attempt.counts else " (not counted)"),
        status=attempt.outcome,
        ok=attempt.outcome == "success",
        sentence=attempt.why or report.sentence,
        run=report.run,
        duration_s=report.duration_s,
        spent_usd=report.spent_usd,
        cost_source=report.cost_source,
        checks=tuple(
            ReportedCheck(
                command=check.command,
                ok=check.ok,
                duration_s=check.duration_s,
                output=check.output,
            )
            for check in attempt.checks
        ),
    )


def _denials(state: LoopState) -> tuple[ReportedDenial, ...]:
    """The denials of all iterations: the loop keeps the rule, or else the tool."""
    rules = dict.fromkeys(rule for attempt in state.attempts for rule in attempt.report.denials)
    return tuple(ReportedDenial(tool=rule) for rule in rules)
