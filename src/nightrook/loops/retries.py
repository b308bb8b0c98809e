"""Decides when a loop retries: after limits of a provider, overload, failures of the network.

- A limit that is used up, or nearly, is waited for until the time that the agent reported; an
  unknown time is tried for, with growing pauses. `--on-limit` may stop or switch agents instead.
- An overload or a failed connection is retried after 2 s, 4 s, 8 s and so on, spread randomly.
- What outlasts the loop's own time is not waited for: the loop ends, and says why.

Nothing here reads a clock; what a loop must not retry is in `nightrook.loops.rules`.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile

import msgspec

from nightrook.loops.events import Decision
from nightrook.loops.state import Attempt, Moment

MARGIN_S = 60.0
"""The wait after the announced end of a limit; providers are late, too."""

LEAST_WAIT_S = 60.0
"""The shortest wait for a limit, also for one whose end is not known."""

MOST_AHEAD_S = 8 * 24 * 3600.0
MOST_UNKNOWN_RESET_S = 3600.0
MOST_BACKOFF_S = 300.0


def end_of_limit(resets_at: float, *, now: float) -> float:
    """Return the time to continue after a limit: never early, and never absurdly late."""
    return min(max(resets_at + MARGIN_S, now + LEAST_WAIT_S), now + MOST_AHEAD_S)


def unknown_reset_s(limits: int, random: float) -> float:
    """The wait after this many limits in a row whose end is not known."""
    return backoff_s(limits, random, least=LEAST_WAIT_S, most=MOST_UNKNOWN_RESET_S)


def backoff_s(failures: int, random: float, *, least: float, most: float) -> float:
    """The wait after this many failures in a row: doubled each time, capped, and spread randomly.

    The spread shortens a wait to no less than half.
    """
    full = min(most, least * 2.0 ** min(max(0, failures - 1), 30))
    return full * (0.5 + 0.5 * random)


def after_limit(moment: Moment) -> Decision | None:
    """Wait for the end of the provider's limit, or follow the plan's alternative."""
    report = moment.last.report
    if report.status != "limited":
        return None
    evidence = ("the agent reported when the limit ends",) if report.reset_from_field else ()
    is_final = bool(report.needs_payment)  # guards: no-wait-for-credit
    return _wait_for_provider(
        moment, report.sentence, report.resets_at, evidence, is_final=is_final
    )


def before_quota(moment: Moment) -> Decision | None:
    """Wait before more of a quota window is used than the plan allows."""
    most, last = moment.plan.max_quota, moment.state.last
    if most is None or last is None or last.report.quota is None or last.report.quota < most:
        return None
    resets_at = last.report.quota_resets_at
    if resets_at is not None and resets_at <= moment.now:
        return None
    reason = f"{last.report.quota:.0%} of a quota window is used (--max-quota is {most:.0%})"
    return _wait_for_provider(moment, reason, resets_at, ())


def _wait_for_provider(
    moment: Moment,
    reason: str,
    resets_at: float | None,
    evidence: tuple[str, ...],
    *,
    is_final: bool = False,
) -> Decision:
    """Follow the plan's rule for limits; never wait for one that is final."""
    policy = moment.plan.on_limit
    if policy.do == "stop":
        return moment.finish("limited", reason, evidence)
    if policy.do == "switch" and policy.agent not in (None, moment.state.agent):
        return Decision(
            at=moment.now,
            step="switch",
            rule="",
            reason=reason,
            evidence=evidence,
            agent=policy.agent,
        )
    if is_final:
        return moment.finish("limited", f"{reason}; waiting does not help", evidence)
    row = _in_a_row(moment.state.attempts, lambda attempt: attempt.report.status == "limited")
    retry = moment.now + unknown_reset_s(row, moment.random)
    if resets_at is not None:
        until = end_of_limit(resets_at, now=moment.now)
        if resets_at <= moment.now:  # it should be over, and is not: do not retry every minute
            until = max(until, retry)
    else:
        until = retry
        evidence = (*evidence, "the end of the limit is not known: retrying from time to time")
    if until - moment.now > moment.time_left_s:
        return moment.finish("limited", f"{reason}; the limit outlasts the loop's time")
    return moment.wait(until, reason, evidence)


def after_failure(moment: Moment) -> Decision | None:
    """Wait and retry after a failure of the network or an overload of the provider."""
    last = moment.last
    if not last.transient:
        return None
    row = _in_a_row(moment.state.attempts, lambda attempt: attempt.transient)
    reason = f"{last.report.error_kind}: {last.report.error or last.report.sentence}"
    if row > moment.plan.patience.backoffs:
        return moment.finish("no_progress", f"{row} failures in a row: {reason}")
    wait = backoff_s(row, moment.random, least=2.0, most=MOST_BACKOFF_S)
    if wait > moment.time_left_s:
        decision = moment.finish("ceiling", f"the next retry is after the loop's time: {reason}")
        return msgspec.structs.replace(decision, ceiling="time")
    return moment.wait(moment.now + wait, reason, (f"failure {row} in a row",))


def _in_a_row(attempts: Sequence[Attempt], holds: Callable[[Attempt], bool]) -> int:
    """Count the last runs for which it holds, without a gap."""
    return sum(1 for _ in takewhile(holds, reversed(attempts)))


AFTER: tuple[tuple[str, Callable[[Moment], Decision | None]], ...] = (
    ("limits", after_limit),
    ("transient", after_failure),
)
"""The rules that come before those on ceilings and on progress."""

LAST: tuple[tuple[str, Callable[[Moment], Decision | None]], ...] = (("quota", before_quota),)
"""The rules that come after all others."""
