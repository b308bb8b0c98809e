"""A whole loop as a table of its runs, what it used, and what it does now."""

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from nightrook.display.loops.steps import (
    Paint,
    changes,
    check_status,
    ending,
    iteration_status,
    waiting,
)
from nightrook.display.numbers import price, total_cost
from nightrook.loops.loop_runs import CurrentRun, current_run
from nightrook.loops.plan import LoopPlan
from nightrook.loops.rules import reached_ceilings
from nightrook.loops.state import Attempt, LoopState
from nightrook.loops.storage import LoopFolder, last_moment
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.ledger import Money, least_certain
from nightrook.model.price import dollars, nano
from nightrook.model.safe import safe_line
from nightrook.model.text import count, one_line, suggested

_LONGEST_WHY = 60

Row = tuple[str, ...]

HEAD: Row = ("", "STATUS", "CHECK", "TIME", "COST", "CHANGES", "RUN", "WHY")
"""The head of the table of runs."""


class LoopView(msgspec.Struct, frozen=True, kw_only=True):
    """A loop at one moment, with the run that it has started and not counted yet."""

    name: str
    plan: LoopPlan
    state: LoopState | None
    is_running: bool
    current: CurrentRun | None = None
    now: float
    """The time; of a loop that was cut off, the time of its last event."""

    @property
    def status(self) -> str:
        """Its status in a word or two."""
        if self.is_running:
            return "running"
        end = self.state.end if self.state else None
        return end.replace("_", " ") if end else "cut off"

    @property
    def used(self) -> str:
        """The iterations, the time and the money it has used."""
        return total(self.state, now=self.now, current=self.current) if self.state else ""

    @property
    def head(self) -> Row:
        """The head of the table of its runs."""
        return self._with_columns(HEAD)

    @property
    def rows(self) -> list[Row]:
        """Its runs as rows under `head`."""
        rows = [row(attempt) for attempt in self.state.attempts] if self.state else []
        rows += [self._current_row(self.current)] if self.current else []
        return [self._with_columns(each) for each in rows]

    def _with_columns(self, cells: Row) -> Row:
        """Leave out the column of checks if the loop has none."""
        has_checks = bool(self.plan.goal.checks)
        pairs = zip(HEAD, cells, strict=True)
        return tuple(cell for name, cell in pairs if has_checks or name != "CHECK")

    def activity(self, paint: Paint) -> str:
        """What it does now, and how to watch or stop it; or how it ended."""
        assert self.state is not None
        if self.state.end is not None and not self.is_running:
            return ending(self.state.end, self.state.reason, paint)
        if not self.is_running:
            return "cut off: rook was killed while the loop was running"
        stop = suggested("stop", self.name)
        if self.current is not None and self.current.ended_at is None:
            attach = suggested("attach", self.current.run)
            return f"iteration {self.current.iteration} is running · {attach} · {stop}"
        if self.current is not None:
            return f"iteration {self.current.iteration} is being checked · {stop}"
        if (wait := self.state.wait) is not None:
            return f"{waiting(wait.until, wait.until - self.now, wait.reason, paint)} · {stop}"
        return f"running · {stop}"

    def resume_hints(self) -> Iterator[str]:
        """How to resume it, if it has stopped and can be resumed."""
        if self.state is not None and not self.is_running:
            yield from resume_hints(self.name, self.plan, self.state)

    def _current_row(self, current: CurrentRun) -> Row:
        took = duration(elapsed_s(current.started_at, current.ended_at or self.now))
        cost = price(Money(current.spent_usd, current.cost_source))
        checking = "running" if self.is_running and current.ended_at is not None else ""
        return (f"{current.iteration}", self.status, checking, took, cost, "", current.run, "")


def read_loop(folder: LoopFolder, home: Path) -> LoopView:
    """Read a loop as it is now; its runs are in `home`."""
    is_running, state = folder.is_running, folder.state()
    pending = None if state is None else state.pending
    return LoopView(
        name=folder.name,
        plan=folder.plan(),
        state=state,
        is_running=is_running,
        current=None if pending is None else current_run(home, folder.name, pending),
        now=time.time() if state is None else last_moment(folder, state, is_running=is_running),
    )


def row(attempt: Attempt) -> Row:
    """A run as a row under `HEAD`."""
    report, change = attempt.report, attempt.change
    changed = ""
    if change is not None and change.files:
        changed = changes(change.files, change.added, change.removed)
    elif change is None and report.files_changed:
        changed = changes(report.files_changed, None, None)
    cost = price(Money(report.spent_usd, report.cost_source))
    return (
        f"{attempt.iteration}" if attempt.counts else "–",
        iteration_status(attempt)[0],
        check_status(attempt)[0],
        duration(report.duration_s),
        "" if report.status == "not_started" else cost,
        " · ".join(part for part in (changed, attempt.commit) if part),
        report.run or "",
        safe_line(one_line(attempt.why, _LONGEST_WHY)),
    )


def total(state: LoopState, *, now: float, current: CurrentRun | None = None) -> str:
    """The iterations, the time and the money that a loop has used.

    The current run is not counted as an iteration yet, but its cost is included.
    """
    parts = [count(state.iterations, "iteration"), duration(state.elapsed_s(now))]
    started = sum(attempt.report.status != "not_started" for attempt in state.attempts)
    known = [Money(state.spent_usd, state.cost_source)] if started > state.unknown_costs else []
    unknown = state.unknown_costs
    if current is not None and current.spent_usd is not None:
        known.append(Money(current.spent_usd, current.cost_source))
    elif current is not None:
        unknown += 1
    if known:
        spent = dollars(sum(nano(cost.usd or 0.0) for cost in known))
        source = least_certain(cost.source for cost in known)
        parts.append(total_cost(Money(spent, source), unknown, "run"))
    elif unknown:
        parts.append(price(Money(None, "unknown")))
    return " · ".join(parts)


def resume_hints(name: str, plan: LoopPlan, state: LoopState) -> Iterator[str]:
    """How to resume a loop that has stopped, if it can be resumed."""
    command = f"resume:  {suggested('loop', '--resume', name)}"
    if state.can_resume:
        yield command
    elif state.end in ("ceiling", "unverified"):
        reached = reached_ceilings(plan.ceilings, state, state.elapsed_s(state.started_at))
        yield " ".join([command, *(ceiling.higher for ceiling in reached)])
