"""What a loop does next, as pure functions of its plan and its state, one small rule each."""

from collections.abc import Callable, Sequence
from itertools import takewhile

import msgspec

from rookery.loops.backoff import MOST_WAIT_S, backoff_s, clamped, undated_s
from rookery.loops.events import Decision, End
from rookery.loops.plan import Ceilings, LoopPlan
from rookery.loops.state import Attempt, LoopState
from rookery.model.text import count, one_line

_LONGEST_ERROR = 200


class Moment(msgspec.Struct, frozen=True):
    """What a rule may ask."""

    plan: LoopPlan
    state: LoopState
    now: float
    chance: float
    """A random share, 0 to 1, that spreads waits."""

    @property
    def last(self) -> Attempt:
        """The run that has just ended."""
        return self.state.attempts[-1]

    @property
    def time_left_s(self) -> float:
        """How long the loop may go on."""
        return self.plan.ceilings.time_s - self.state.elapsed_s(self.now)


Rule = Callable[[Moment], Decision | None]


def next_step(plan: LoopPlan, state: LoopState, *, now: float, chance: float) -> Decision:
    """Decide after a run has ended: the first rule that says something holds."""
    return _first(_AFTER, Moment(plan, state, now, chance), _go_on)


def may_begin(plan: LoopPlan, state: LoopState, *, now: float, chance: float) -> Decision:
    """Decide before a run is begun: also after a wait or a crash the ceilings hold."""
    return _first(_BEFORE, Moment(plan, state, now, chance), _go_on)


def _first(rules: Sequence[tuple[str, Rule]], moment: Moment, otherwise: Rule) -> Decision:
    for name, rule in rules:
        if (decision := rule(moment)) is not None:
            return msgspec.structs.replace(decision, rule=name)
    decision = otherwise(moment)
    assert decision is not None
    return decision


def is_done(plan: LoopPlan, attempt: Attempt) -> bool:
    """Whether the goal is met: the agent says so, if it was asked to, and every check passes."""
    if plan.goal.asks_for_words:
        return attempt.report.said_done and attempt.checks_pass
    ended = attempt.report.status in ("success", "denied", "failed", "over_budget")
    return ended and bool(plan.goal.checks) and bool(attempt.checks) and attempt.checks_pass


def _interrupted(moment: Moment) -> Decision | None:
    last = moment.last
    if last.report.status != "interrupted" and not last.is_half_checked:
        return None
    return _finish(moment, "interrupted", "it was interrupted")


def _completion(moment: Moment) -> Decision | None:
    if not is_done(moment.plan, moment.last):
        return None
    said = ("the agent says done",) if moment.last.report.said_done else ()
    passed = tuple(f"passes: {check.command}" for check in moment.last.checks)
    return _finish(moment, "done", "the goal is met", said + passed)


def _not_started(moment: Moment) -> Decision | None:
    report = moment.last.report
    if report.status != "not_started":
        return None
    return _finish(moment, "not_started", report.sentence)


def _broken_check(moment: Moment) -> Decision | None:
    """A check that could not even begin will not pass, whatever the agent does."""
    broken = tuple(check for check in moment.last.checks if check.cannot_run)
    if not broken or moment.state.iterations > 1:
        return None
    first = broken[0]
    return _finish(
        moment,
        "not_started",
        f"the check cannot be run (exit {first.exit_code}): {first.command}",
        tuple(check.output.strip() for check in broken),
    )


def _limit(moment: Moment) -> Decision | None:
    report = moment.last.report
    if report.status != "limited":
        return None
    told = ("a field tells when it ends",) if report.reset_is_told else ()
    return _wait_for_provider(moment, report.sentence, report.resets_at, told)


def _quota(moment: Moment) -> Decision | None:
    most, last = moment.plan.max_quota, moment.state.last
    if most is None or last is None or last.report.quota is None or last.report.quota < most:
        return None
    resets_at = last.report.quota_resets_at
    if resets_at is not None and resets_at <= moment.now:
        return None
    reason = f"{last.report.quota:.0%} of a quota window is used, and {most:.0%} is the most"
    return _wait_for_provider(moment, reason, resets_at, ())


def _wait_for_provider(
    moment: Moment, reason: str, resets_at: float | None, evidence: tuple[str, ...]
) -> Decision:
    policy = moment.plan.on_limit
    if policy.do == "stop":
        return _finish(moment, "limited", reason, evidence)
    if policy.do == "switch" and policy.agent not in (None, moment.state.agent):
        return Decision(
            at=moment.now,
            step="switch",
            rule="",
            reason=reason,
            evidence=evidence,
            agent=policy.agent,
        )
    if resets_at is not None:
        until = clamped(resets_at, now=moment.now)
    else:
        row = _in_a_row(moment.state.attempts, lambda attempt: attempt.report.status == "limited")
        until = moment.now + undated_s(row, moment.chance)
        evidence = (*evidence, "nobody tells when it ends: tried again now and then")
    if until - moment.now > moment.time_left_s:
        return _finish(moment, "limited", f"{reason}; it ends after the loop's time is up")
    return _wait(moment, until, reason, evidence)


def _transient(moment: Moment) -> Decision | None:
    last = moment.last
    if not last.transient:
        return None
    row = _in_a_row(moment.state.attempts, lambda attempt: attempt.transient)
    reason = f"{last.report.error_kind}: {last.report.error or last.report.sentence}"
    if row > moment.plan.patience.backoffs:
        return _finish(moment, "no_progress", f"{row} failures in a row: {reason}")
    wait = backoff_s(row, moment.chance, least=2.0, most=MOST_WAIT_S)
    if wait > moment.time_left_s:
        return _finish(moment, "ceiling", f"the loop's time is up while it waits: {reason}")
    return _wait(moment, moment.now + wait, reason, (f"failure {row} in a row",))


def reached(most: Ceilings, state: LoopState, now: float) -> list[tuple[str, str]]:
    """The ceilings that a loop has reached, each with a flag that would let it go on."""
    rows = (
        (
            state.iterations >= most.iterations,
            count(most.iterations, "iteration"),
            f"--max-iterations {2 * most.iterations}",
        ),
        (
            state.elapsed_s(now) >= most.time_s,
            f"{most.time_s:.0f} s",
            f"--max-time {2 * most.time_s:.0f}s",
        ),
        (
            state.spent_usd >= most.cost_usd,
            f"${most.cost_usd:g}",
            f"--max-cost {2 * max(most.cost_usd, state.spent_usd):.2f}",
        ),
        (
            state.tokens >= most.tokens,
            count(most.tokens, "token"),
            f"--max-tokens {2 * max(most.tokens, state.tokens)}",
        ),
        (
            state.turns >= most.turns,
            count(most.turns, "turn"),
            f"--max-turns {2 * max(most.turns, state.turns)}",
        ),
    )
    return [(words, flag) for is_reached, words, flag in rows if is_reached]


def _ceilings(moment: Moment) -> Decision | None:
    state = moment.state
    passed = [words for words, _ in reached(moment.plan.ceilings, state, moment.now)]
    if not passed:
        return None
    last = state.last
    if last is not None and last.report.said_done and not last.checks_pass:
        failed = tuple(f"fails: {check.command}" for check in last.checks if not check.ok)
        return _finish(
            moment, "unverified", f"the agent says done, a check says no; {passed[0]} used", failed
        )
    return _finish(moment, "ceiling", f"{passed[0]} used", tuple(passed[1:]))


def _stuck(moment: Moment) -> Decision | None:
    report = moment.last.report
    if report.status != "stuck" or moment.plan.on_stuck != "stop":
        return None
    return _finish(moment, "stuck", report.sentence)


def _denials(moment: Moment) -> Decision | None:
    most = moment.plan.patience.same_denial
    row = _tail(moment.state.counted, most)
    denied = {attempt.report.denials for attempt in row}
    if len(row) < most or len(denied) != 1 or not (rules := denied.pop()):
        return None
    allow = " ".join(f"--allow '{rule}'" for rule in rules)
    return _finish(
        moment,
        "no_progress",
        f"the same tools were denied {most} times; let them pass with {allow}",
        rules,
    )


def _same_error(moment: Moment) -> Decision | None:
    most = moment.plan.patience.same_error
    row = _tail(moment.state.counted, most)
    errors = {_error(attempt) for attempt in row}
    if len(row) < most or len(errors) != 1 or (error := errors.pop()) is None:
        return None
    return _finish(moment, "no_progress", f"the same error {most} times: {error}")


def _no_progress(moment: Moment) -> Decision | None:
    most = moment.plan.patience.same_answer
    # What a crash of ours cut off says nothing of the agent's progress.
    whole = [attempt for attempt in moment.state.counted if not attempt.report.recovered]
    row = _tail(whole, most)
    if len(row) < most or not all(_left_files_alone(attempt) for attempt in row):
        return None
    if len({_answer(attempt) for attempt in row}) != 1:
        return None
    return _finish(moment, "no_progress", f"no file changed and the same answer {most} times")


def _go_on(moment: Moment) -> Decision:
    last = moment.state.last
    reasons: tuple[str, ...] = ()
    if last is not None:
        failed = tuple(f"fails: {check.command}" for check in last.checks if not check.ok)
        said = moment.plan.goal.asks_for_words and not last.report.said_done
        reasons = (*(("the agent does not say done",) if said else ()), *failed)
    reason = reasons[0] if reasons else "the goal is not met yet"
    return Decision(
        at=moment.now, step="continue", rule="go_on", reason=reason, evidence=reasons[1:]
    )


_AFTER: tuple[tuple[str, Rule], ...] = (
    ("interrupted", _interrupted),
    ("completion", _completion),
    ("not_started", _not_started),
    ("broken_check", _broken_check),
    ("limits", _limit),
    ("transient", _transient),
    ("ceilings", _ceilings),
    ("stuck", _stuck),
    ("denials", _denials),
    ("same_error", _same_error),
    ("no_progress", _no_progress),
    ("quota", _quota),
)
"""In this order: completion before the ceilings, so that the last iteration counts."""

_BEFORE: tuple[tuple[str, Rule], ...] = (("ceilings", _ceilings),)


def _finish(moment: Moment, end: End, reason: str, evidence: tuple[str, ...] = ()) -> Decision:
    return Decision(
        at=moment.now, step="finish", rule="", reason=reason, evidence=evidence, end=end
    )


def _wait(moment: Moment, until: float, reason: str, evidence: tuple[str, ...]) -> Decision:
    return Decision(
        at=moment.now, step="wait", rule="", reason=reason, evidence=evidence, until=until
    )


def _tail(attempts: Sequence[Attempt], most: int) -> Sequence[Attempt]:
    return attempts[-most:] if most > 0 else ()


def _in_a_row(attempts: Sequence[Attempt], holds: Callable[[Attempt], bool]) -> int:
    """How many of the last runs it holds for, without a gap."""
    return sum(1 for _ in takewhile(holds, reversed(attempts)))


def _error(attempt: Attempt) -> str | None:
    report = attempt.report
    if report.recovered or report.status not in ("failed", "incomplete", "timed_out", "stuck"):
        return None
    return one_line(report.error or report.sentence, _LONGEST_ERROR)


def _answer(attempt: Attempt) -> str:
    return " ".join((attempt.report.answer or "").split())


def _left_files_alone(attempt: Attempt) -> bool:
    """Whether it is known that no file changed; where nobody can tell, it is not."""
    return attempt.change is not None and attempt.change.files == 0
