"""The state of a loop: the one value that is kept on disk, and the moment that its rules judge."""

from typing import Literal

import msgspec

from nightrook.loops.events import CANNOT_EXECUTE, NOT_FOUND, CheckStop, Decision
from nightrook.loops.plan import LoopPlan
from nightrook.model.durations import elapsed_s
from nightrook.model.ending import Ending
from nightrook.model.events import ErrorKind
from nightrook.model.ledger import Source, least_certain
from nightrook.model.limits import Amounts, Limits
from nightrook.model.price import dollars, nano
from nightrook.model.status import LoopEnd, Outcome


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of an iteration in the working folder."""

    files: int = 0
    added: int | None = None
    removed: int | None = None
    mark: str | None = None
    """A fingerprint of all files; None if they could not be compared."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run of the agent, as far as the rules need it."""

    run: str | None = None
    status: Outcome
    sentence: str
    started_at: float
    ended_at: float
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    tokens: int | None = None
    turns: int | None = None
    answer: str | None = None
    said_done: bool = False
    error: str | None = None
    """The first line of the error."""

    error_kind: ErrorKind | None = None
    needs_payment: bool | msgspec.UnsetType = msgspec.UNSET
    """True if the provider's limit is that no credit is left, which waiting does not change."""

    cost_unknown: bool | msgspec.UnsetType = msgspec.UNSET
    """True if it was stopped because its cost cannot be compared with the ceiling."""

    denials: tuple[str, ...] = ()
    """The rules that would allow the denied calls, or else the names of their tools."""

    files_changed: int | None = None
    """Number of files the agent reported as changed."""

    resets_at: float | None = None
    """End of the provider's limit, from a field or from the agent's final error."""

    reset_from_field: bool = msgspec.field(default=False, name="reset_is_told")
    """True if `resets_at` comes from a field of the stream, not from a text."""

    quota: float | None = None
    """The fullest quota window, 0 to 1."""

    quota_resets_at: float | None = None
    session: str | None = None
    recovered: bool = False
    """True if it was read from the run's folder after rook itself crashed."""

    @property
    def duration_s(self) -> float:
        """The duration of the run."""
        return elapsed_s(self.started_at, self.ended_at)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check."""

    command: str
    ok: bool
    exit_code: int | None = None
    stopped: CheckStop | None = None
    duration_s: float = 0.0
    output: str = ""

    @property
    def cannot_run(self) -> bool:
        """True if the shell could not find or execute the command."""
        return self.exit_code in (CANNOT_EXECUTE, NOT_FOUND)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the agent that has ended, with its checks."""

    id: int
    """The number of the run in the loop; also kept in the run's folder."""

    iteration: int
    agent: str
    report: Report
    checks: tuple[Check, ...] = ()
    change: Change | None = None
    commit: str | None = None
    problem: str | msgspec.UnsetType = msgspec.UNSET
    """Reason why its changes could not be committed."""

    why: str = ""
    """Reason why the loop continued or ended after it."""

    @property
    def checks_pass(self) -> bool:
        """True if no check failed."""
        return all(check.ok for check in self.checks)

    @property
    def outcome(self) -> Outcome | Literal["not_done"]:
        """The status of its run; `not_done` if the run succeeded and a check failed."""
        status = self.report.status
        # guards: failed-check-no-success
        return "not_done" if status == "success" and not self.checks_pass else status

    @property
    def is_half_checked(self) -> bool:
        """True if an interrupt ended a check before its result was known."""
        return any(check.stopped == "interrupted" for check in self.checks)

    @property
    def counts(self) -> bool:
        """True if it counts as an iteration: a run that a limit or the network ended does not."""
        # guards: limited-run-uncounted
        return self.report.status != "limited" and not self.transient

    @property
    def transient(self) -> bool:
        """True if it failed for a reason that passes without anyone's help."""
        failed = self.report.status in ("failed", "incomplete")
        return failed and self.report.error_kind in ("overload", "network", "rate")


class PendingRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was started and is not counted yet; after a crash its folder has the rest."""

    id: int
    iteration: int
    agent: str
    started_at: float
    nonce: str
    """The one-time completion word."""

    before: Change | None = None


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """A wait that is not over yet."""

    since: float
    until: float
    reason: str


class LoopState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a loop that must survive a crash."""

    started_at: float
    agent: str
    attempts: tuple[Attempt, ...] = ()
    pending: PendingRun | None = msgspec.field(default=None, name="begun")
    wait: Wait | None = None
    end: LoopEnd | None = None
    reason: str = ""
    ended_at: float | None = None
    paused_s: float = 0.0
    """Seconds between its interruptions and resumptions, in all."""

    saved_at: float | msgspec.UnsetType = msgspec.UNSET
    """Time at which this state was saved, by the loop's own clock."""

    def elapsed_s(self, now: float) -> float:
        """The seconds that it has been running, waits included, until its end or until now."""
        return elapsed_s(self.started_at + self.paused_s, self.ended_at or now)

    def reopened(self, now: float) -> "LoopState":
        """The state of a loop that is resumed: the time since its end does not count.

        If the clock was set back meanwhile, the time that the loop has used stays used.
        """
        if self.ended_at is not None:
            pause = now - self.ended_at
        else:
            known = self.started_at if self.saved_at is msgspec.UNSET else self.saved_at
            pause = min(0.0, now - known)
        return msgspec.structs.replace(
            self, end=None, reason="", ended_at=None, paused_s=self.paused_s + pause
        )

    def with_last(self, attempt: Attempt) -> "LoopState":
        """The same state with another last attempt."""
        return msgspec.structs.replace(self, attempts=(*self.attempts[:-1], attempt))

    @property
    def ending(self) -> Ending[LoopEnd] | None:
        """The end of the loop; None if it has not ended."""
        if self.end is None:
            return None
        return Ending.of_loop(
            self.end,
            self.reason,
            ended_at=self.ended_at,
            duration_s=self.elapsed_s(self.ended_at or self.started_at),
        )

    @property
    def can_resume(self) -> bool:
        """True if it can be resumed as it is; at a ceiling it needs a higher one."""
        return self.end in (None, "interrupted", "not_started", "limited")

    @property
    def is_over(self) -> bool:
        """True if it has ended for another reason than an interrupt."""
        return self.end not in (None, "interrupted")

    @property
    def last(self) -> Attempt | None:
        """The run that ended last."""
        return self.attempts[-1] if self.attempts else None

    @property
    def for_next_prompt(self) -> Attempt | None:
        """The run whose result the next prompt includes: one that was counted or checked."""
        return next((a for a in reversed(self.attempts) if a.counts or a.checks), None)

    @property
    def iterations(self) -> int:
        """The number of iterations that were done; waits don't count."""
        return len(self.counted)

    @property
    def counted(self) -> tuple[Attempt, ...]:
        """The runs that count as iterations."""
        return tuple(attempt for attempt in self.attempts if attempt.counts)

    @property
    def spent_usd(self) -> float:
        """The sum of all known costs."""
        return dollars(sum(nano(attempt.report.spent_usd or 0.0) for attempt in self.attempts))

    @property
    def unknown_costs(self) -> int:
        """The number of runs that reported no cost."""
        return sum(report.spent_usd is None for report in self._started)

    @property
    def known_usd(self) -> float | None:
        """The cost so far; None if there were runs and none of them reported its cost."""
        return None if 0 < len(self._started) == self.unknown_costs else self.spent_usd

    @property
    def _started(self) -> list[Report]:
        return [a.report for a in self.attempts if a.report.status != "not_started"]

    @property
    def cost_source(self) -> Source:
        """The certainty of the sum of the costs."""
        reports = (attempt.report for attempt in self.attempts)
        return least_certain(r.cost_source for r in reports if r.spent_usd is not None)

    def used(self, elapsed_s: float) -> Amounts:
        """Return the amounts used of its ceilings after so many seconds."""
        return Limits(time=elapsed_s, cost=self.spent_usd, tokens=self.tokens, turns=self.turns)

    @property
    def tokens(self) -> int:
        """The sum of all known tokens."""
        return sum(attempt.report.tokens or 0 for attempt in self.attempts)

    @property
    def turns(self) -> int:
        """The sum of all known turns."""
        return sum(attempt.report.turns or 0 for attempt in self.attempts)


class Moment(msgspec.Struct, frozen=True):
    """The input of every rule; it makes the decisions of rules."""

    plan: LoopPlan
    state: LoopState
    now: float
    """The time on the wall clock, by which waits end."""

    elapsed_s: float
    """Seconds the loop has run."""

    random: float
    """A random share, 0 to 1, that spreads waits."""

    stopped_by: str | None = None
    """Reason for the stop, as `interrupted_by` takes it."""

    @property
    def last(self) -> Attempt:
        """The run that has just ended."""
        return self.state.attempts[-1]

    @property
    def time_left_s(self) -> float:
        """The seconds that are left of the loop's time."""
        return self.plan.ceilings.time_s - self.elapsed_s

    def finish(self, end: LoopEnd, reason: str, evidence: tuple[str, ...] = ()) -> Decision:
        """Decide to end the loop."""
        return Decision(
            at=self.now, step="finish", rule="", reason=reason, evidence=evidence, end=end
        )

    def wait(self, until: float, reason: str, evidence: tuple[str, ...]) -> Decision:
        """Decide to wait until then, and to continue."""
        return Decision(
            at=self.now, step="wait", rule="", reason=reason, evidence=evidence, until=until
        )
