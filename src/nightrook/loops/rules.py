"""Decides what a loop does next: small rules, pure functions of its plan and its state.

The first rule that applies decides (`_AFTER`, `_BEFORE`); if none does, the loop continues. Rules
on waiting and retrying are in `nightrook.loops.retries`.
"""

import shlex
from collections.abc import Callable, Sequence

import msgspec
from msgspec import UNSET

from nightrook.loops import retries
from nightrook.loops.ceilings import reached_ceilings
from nightrook.loops.events import Decision
from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import Attempt, Check, Moment
from nightrook.model.sentences import interrupted_by
from nightrook.model.text import one_line

_LONGEST_ERROR = 200
_BEFORE_PAYING = "nothing was spent; if the agent is to make it work, use --no-check-first"


Rule = Callable[[Moment], Decision | None]


def after_run(moment: Moment) -> Decision:
    """Decide after a run has ended: the first rule that applies decides."""
    return _first(_AFTER, moment)


def before_run(moment: Moment) -> Decision:
    """Decide before a run starts: the ceilings also hold after a wait or a crash."""
    return _first(_BEFORE, moment)


def after_first_checks(moment: Moment, checks: Sequence[Check]) -> Decision | None:
    """Decide before an iteration is paid for: whether the work is done, or a check cannot run.

    None means that the loop continues.
    """
    decision = None
    if broken := _broken(checks, moment.state.iterations):  # guards: broken-check-first
        decision = _cannot_check(moment, broken, _BEFORE_PAYING)
    elif _is_done_already(moment, checks):
        decision = moment.finish("done", "every check passes already", _passed(checks))
    return None if decision is None else msgspec.structs.replace(decision, rule="check_first")


def _is_done_already(moment: Moment, checks: Sequence[Check]) -> bool:
    """True if the checks pass, and the agent has said that it is done, if it was asked to."""
    last = moment.state.last
    if last is not None and last.problem is not UNSET:  # guards: uncommitted-not-done
        return False  # its changes are not committed yet
    said_done = last is not None and last.report.said_done
    passes = bool(checks) and all(check.ok for check in checks)
    return passes and (said_done or not moment.plan.goal.needs_answer)


def _first(rules: Sequence[tuple[str, Rule]], moment: Moment) -> Decision:
    for name, rule in rules:
        if (decision := rule(moment)) is not None:
            return msgspec.structs.replace(decision, rule=name)
    return _continue(moment)


def is_done(plan: LoopPlan, attempt: Attempt) -> bool:
    """True if the goal is met: the agent says so, if it was asked to, and every check passes."""
    # guards: checks-ran, checks-and-words
    if len(attempt.checks) < len(plan.goal.checks) or not attempt.checks_pass:
        return False
    if plan.goal.needs_answer:
        return attempt.report.said_done
    ended = attempt.report.status in ("success", "denied", "failed", "over_budget")
    return ended and bool(plan.goal.checks)


def _interrupted(moment: Moment) -> Decision | None:
    last = moment.last
    if last.report.status != "interrupted" and not last.is_half_checked:
        return None
    half = [check.command for check in last.checks if check.stopped == "interrupted"]
    by = interrupted_by(moment.stopped_by)
    reason = f"{by}, in the middle of the check {half[0]}" if half else last.report.sentence
    return moment.finish("interrupted", reason)


def _not_committed(moment: Moment) -> Decision | None:
    """Rule: stop where the work cannot be kept."""
    problem = moment.last.problem
    return None if problem is UNSET else moment.finish("not_started", problem)


def _completion(moment: Moment) -> Decision | None:
    if not is_done(moment.plan, moment.last):
        return None
    said = ("the agent says it is done",) if moment.last.report.said_done else ()
    return moment.finish("done", "the goal is met", said + _passed(moment.last.checks))


def _passed(checks: Sequence[Check]) -> tuple[str, ...]:
    return tuple(f"passed: {check.command}" for check in checks)


def _not_started(moment: Moment) -> Decision | None:
    report = moment.last.report
    if report.status != "not_started":
        return None
    return moment.finish("not_started", report.sentence)


def _broken_check(moment: Moment) -> Decision | None:
    """A check that the shell cannot even start will not pass, whatever the agent does."""
    broken = _broken(moment.last.checks, moment.state.iterations - 1)
    return _cannot_check(moment, broken) if broken else None


def _broken(checks: Sequence[Check], iterations: int) -> tuple[Check, ...]:
    """The checks that cannot run, if no iteration before could have made them work."""
    return () if iterations > 0 else tuple(check for check in checks if check.cannot_run)


def _cannot_check(moment: Moment, broken: Sequence[Check], hint: str = "") -> Decision:
    first = broken[0]
    reason = f"the check cannot run (exit code {first.exit_code}): {first.command}"
    evidence = tuple(check.output.strip() for check in broken)
    return moment.finish("not_started", f"{reason}; {hint}" if hint else reason, evidence)


def _ceilings(moment: Moment) -> Decision | None:
    reached = reached_ceilings(
        moment.plan.ceilings,
        iterations=moment.state.iterations,
        used=moment.state.used(moment.elapsed_s),
    )
    if not reached:
        return None
    first, *others = reached
    last = moment.state.last
    if last is not None and last.report.said_done and not last.checks_pass:
        decision = moment.finish(
            "unverified",
            f"the agent says it is done, but a check fails; {first.limit} used",
            _failed_checks(last),
        )
    else:
        evidence = tuple(ceiling.limit for ceiling in others)
        decision = moment.finish("ceiling", f"{first.limit} used", evidence)
    return msgspec.structs.replace(decision, ceiling=first.name)


def _unknown_cost(moment: Moment) -> Decision | None:
    report = moment.last.report
    if not report.cost_unknown:  # guards: unknown-price-ends-loop
        return None
    reason = f"{report.sentence}; start the loop with --max-cost-unchecked to leave it out"
    return msgspec.structs.replace(moment.finish("ceiling", reason), ceiling="cost")


def _stuck(moment: Moment) -> Decision | None:
    report = moment.last.report
    if report.status != "stuck" or moment.plan.on_stuck != "stop":
        return None
    return moment.finish("stuck", report.sentence)


def _denials(moment: Moment) -> Decision | None:
    most = moment.plan.patience.same_denial
    row = _tail(moment.state.counted, most)
    denied = {attempt.report.denials for attempt in row}
    if len(row) < most or len(denied) != 1 or not (rules := denied.pop()):
        return None
    allow = " ".join(f"--allow {shlex.quote(rule)}" for rule in rules)  # guards: loop-rule-quoted
    reason = f"the same tools were denied {most} times; allow them with {allow}"
    return moment.finish("no_progress", reason, rules)


def _same_error(moment: Moment) -> Decision | None:
    most = moment.plan.patience.same_error
    row = _tail(moment.state.counted, most)
    errors = {_error(attempt) for attempt in row}
    if len(row) < most or len(errors) != 1 or (error := errors.pop()) is None:
        return None
    return moment.finish("no_progress", f"the same error {most} times: {error}")


def _no_progress(moment: Moment) -> Decision | None:
    most = moment.plan.patience.same_answer
    # A run that a crash of rook cut short shows nothing about the agent's progress.
    whole = [attempt for attempt in moment.state.counted if not attempt.report.recovered]
    row = _tail(whole, most)
    if len(row) < most or not all(_left_files_alone(attempt) for attempt in row):
        return None
    if len({_answer(attempt) for attempt in row}) != 1:
        return None
    return moment.finish("no_progress", f"no file changed and the same answer {most} times")


def _continue(moment: Moment) -> Decision:
    last = moment.state.last
    reasons: tuple[str, ...] = ()
    if last is not None:
        not_done = moment.plan.goal.needs_answer and not last.report.said_done
        silent = ("the agent did not say it is done",) if not_done else ()
        reasons = (*silent, *_failed_checks(last))
    reason = reasons[0] if reasons else "the goal is not met yet"
    return Decision(
        at=moment.now, step="continue", rule="go_on", reason=reason, evidence=reasons[1:]
    )


_AFTER: tuple[tuple[str, Rule], ...] = (
    ("interrupted", _interrupted),
    ("not_committed", _not_committed),
    ("completion", _completion),
    ("not_started", _not_started),
    ("broken_check", _broken_check),
    *retries.AFTER,
    ("unknown_cost", _unknown_cost),
    ("ceilings", _ceilings),
    ("stuck", _stuck),
    ("denials", _denials),
    ("same_error", _same_error),
    ("no_progress", _no_progress),
    *retries.LAST,
)
"""Rules in order: completion comes before the ceilings, so that the last iteration counts."""

_BEFORE: tuple[tuple[str, Rule], ...] = (("ceilings", _ceilings),)


def _failed_checks(attempt: Attempt) -> tuple[str, ...]:
    return tuple(f"failed: {check.command}" for check in attempt.checks if not check.ok)


def _tail(attempts: Sequence[Attempt], most: int) -> Sequence[Attempt]:
    return attempts[-most:] if most > 0 else ()


def _error(attempt: Attempt) -> str | None:
    report = attempt.report
    if report.recovered or report.status not in ("failed", "incomplete", "timed_out", "stuck"):
        return None
    return one_line(report.error or report.sentence, _LONGEST_ERROR)


def _answer(attempt: Attempt) -> str:
    return " ".join((attempt.report.answer or "").split())


def _left_files_alone(attempt: Attempt) -> bool:
    """True if no file changed; False if the files could not be compared."""
    return attempt.change is not None and attempt.change.files == 0
