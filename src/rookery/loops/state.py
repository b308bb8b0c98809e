"""What a loop has done so far: the one thing that is kept, and that every rule reads."""

import msgspec

from rookery.loops.events import CANNOT_EXECUTE, NOT_FOUND, End, Stopped
from rookery.model.events import ErrorKind
from rookery.model.ledger import Source, least_certain
from rookery.model.price import dollars, nano
from rookery.model.verdict import Outcome


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What an iteration did to the files."""

    files: int = 0
    added: int | None = None
    removed: int | None = None
    mark: str | None = None
    """Tells the state of the files apart from any other; None if nobody can."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How one run of the agent went, as far as the rules ask."""

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
    """The first line of what went wrong."""

    error_kind: ErrorKind | None = None
    denials: tuple[str, ...] = ()
    """The rules that would have let the denied calls pass, or their tools' names."""

    files_changed: int | None = None
    """How many files the agent says that it changed."""

    resets_at: float | None = None
    """When the provider's limit ends, if a field or the agent's final error tells."""

    reset_is_told: bool = False
    """Whether a field told it, not a text."""

    quota: float | None = None
    """The fullest quota window, 0 to 1."""

    quota_resets_at: float | None = None
    session: str | None = None
    recovered: bool = False
    """Whether it was read from its folder after a crash of ours, which is no fault of the agent."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """How one check went."""

    command: str
    ok: bool
    exit_code: int | None = None
    stopped: Stopped | None = None
    duration_s: float = 0.0
    output: str = ""

    @property
    def cannot_run(self) -> bool:
        """Whether the shell found no such command, or may not run it."""
        return self.exit_code in (CANNOT_EXECUTE, NOT_FOUND)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the agent that has ended, with its checks."""

    id: int
    """Counts every run; the run's folder holds it."""

    iteration: int
    agent: str
    report: Report
    checks: tuple[Check, ...] = ()
    change: Change | None = None
    commit: str | None = None
    why: str = ""
    """Why the loop went on, or ended."""

    @property
    def checks_pass(self) -> bool:
        """Whether no check said no."""
        return all(check.ok for check in self.checks)

    @property
    def is_half_checked(self) -> bool:
        """Whether an interrupt ended a check before it could tell."""
        return any(check.stopped == "interrupted" for check in self.checks)

    @property
    def counts(self) -> bool:
        """Whether it was an iteration: one that a limit or the network stopped was none."""
        return self.report.status != "limited" and not self.transient

    @property
    def transient(self) -> bool:
        """Whether it failed for a reason that passes by itself."""
        failed = self.report.status in ("failed", "incomplete")
        return failed and self.report.error_kind in ("overload", "network", "rate")


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was begun; after a crash its folder tells what became of it."""

    id: int
    iteration: int
    agent: str
    started_at: float
    nonce: str
    """The word that says done."""

    before: Change | None = None


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """A wait that has begun."""

    since: float
    until: float
    reason: str


class LoopState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that must survive a crash."""

    started_at: float
    agent: str
    attempts: tuple[Attempt, ...] = ()
    begun: Begun | None = None
    wait: Wait | None = None
    end: End | None = None
    reason: str = ""
    ended_at: float | None = None
    paused_s: float = 0.0
    """How long it lay still between an end and its going on."""

    def elapsed_s(self, now: float) -> float:
        """How long it has been at work, waits included, up to its end or up to now."""
        return max(0.0, (self.ended_at or now) - self.started_at - self.paused_s)

    def reopened(self, now: float) -> "LoopState":
        """As it is when it goes on: the time since its end does not count."""
        pause = 0.0 if self.ended_at is None else max(0.0, now - self.ended_at)
        return msgspec.structs.replace(
            self, end=None, reason="", ended_at=None, paused_s=self.paused_s + pause
        )

    @property
    def can_go_on(self) -> bool:
        """Whether it may be gone on with as it is; at a ceiling it needs a higher one."""
        return self.end in (None, "interrupted", "not_started", "limited")

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and not only for an interrupt."""
        return self.end not in (None, "interrupted")

    @property
    def last(self) -> Attempt | None:
        """The run that ended last."""
        return self.attempts[-1] if self.attempts else None

    @property
    def told(self) -> Attempt | None:
        """The run that the next prompt tells of: not one that the provider stopped unchecked."""
        return next((a for a in reversed(self.attempts) if a.counts or a.checks), None)

    @property
    def iterations(self) -> int:
        """How many iterations were done; waiting is none."""
        return sum(attempt.counts for attempt in self.attempts)

    @property
    def counted(self) -> tuple[Attempt, ...]:
        """The runs that were iterations."""
        return tuple(attempt for attempt in self.attempts if attempt.counts)

    @property
    def spent_usd(self) -> float:
        """What is known to have been spent."""
        return dollars(sum(nano(attempt.report.spent_usd or 0.0) for attempt in self.attempts))

    @property
    def unknown_costs(self) -> int:
        """Runs whose cost nobody knows."""
        return sum(report.spent_usd is None for report in self._ran)

    @property
    def known_usd(self) -> float | None:
        """What was spent; None if runs cost something and nobody knows of any how much."""
        return None if 0 < len(self._ran) == self.unknown_costs else self.spent_usd

    @property
    def _ran(self) -> list[Report]:
        return [a.report for a in self.attempts if a.report.status != "not_started"]

    @property
    def cost_source(self) -> Source:
        """How far the sum can be trusted."""
        told = (attempt.report for attempt in self.attempts)
        return least_certain(r.cost_source for r in told if r.spent_usd is not None)

    @property
    def tokens(self) -> int:
        """The tokens that are known to have been used."""
        return sum(attempt.report.tokens or 0 for attempt in self.attempts)

    @property
    def turns(self) -> int:
        """The turns that are known to have been taken."""
        return sum(attempt.report.turns or 0 for attempt in self.attempts)
