"""Loops for people: each step as a line, and a whole loop as the table of its runs.

Text that agents wrote is made safe here. `loop_json` is a loop for programs.
"""

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from nightrook.display.console import style_of
from nightrook.display.numbers import changed_lines, price, total_cost
from nightrook.loops.ceilings import Ceilings, reached_ceilings
from nightrook.loops.events import (
    CANNOT_EXECUTE,
    NOT_FOUND,
    CheckFinished,
    Decision,
    IterationFinished,
    IterationStarted,
    LoopEvent,
    LoopStarted,
    Resumed,
    StuckSuspected,
    Waiting,
)
from nightrook.loops.loop_runs import CurrentRun, current_run
from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import Attempt, Check, LoopState
from nightrook.loops.storage import LoopFolder, last_moment
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money, least_certain
from nightrook.model.limits import Limits
from nightrook.model.price import dollars, nano
from nightrook.model.safe import safe_line
from nightrook.model.status import LOOP_EXIT_CODES, LoopEnd, Outcome
from nightrook.model.text import count, cut, one_line, suggested
from nightrook.runs.listing import combined

_LONGEST_REASON = 160
_LONGEST_COMMAND = 60
_LONGEST_LINE = 200
_LONGEST_WHY = 60

Paint = Callable[[str, str], str]
"""Paints text in a style: `strong`, `good`, `bad`, `error`, `note` or `aside`."""


def lines(event: LoopEvent, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    """The lines of a step; the end and the events of the agent have none here."""
    render = _RENDERERS.get(type(event))
    return iter(()) if render is None else render(event, plan, paint)


def _started(event: LoopStarted, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    resumed = f" · resumed after iteration {event.iterations}" if event.resumed else ""
    yield f"{paint('strong', event.loop)} · {goal(plan)}{resumed}"
    yield f"at most {ceilings(event.ceilings)}"
    if event.worktree and event.branch:
        yield worktree(event.worktree, event.branch)


def _iteration_started(event: IterationStarted, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    number = f"iteration {event.iteration} of {plan.ceilings.iterations}"
    run = plan.run
    agent = run.called if run.called and event.agent == run.agent else event.agent
    yield paint("strong", f"── {number} · {safe_line(agent)} ──")


def _iteration_finished(event: IterationFinished, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    awaits_check = event.status == "success" and plan.goal.checks  # so it may yet fail
    outcome = event.status if awaits_check else status(event.status, paint)
    parts = [outcome, duration(event.duration_s)]
    if event.status != "not_started":
        parts.append(price(Money(event.spent_usd, event.cost_source)))
    if event.files:
        parts.append(changes(event.files, event.added, event.removed))
    if event.commit:
        parts.append(f"commit {event.commit}")
    if event.run:
        parts.append(suggested("show", event.run))
    yield " · ".join(parts)
    if event.left_out:
        names = safe_line(one_line(", ".join(event.left_out), _LONGEST_LINE))
        yield paint("note", f"not committed: {names}")


def _check_finished(event: CheckFinished, _: LoopPlan, paint: Paint) -> Iterator[str]:
    yield check_line(event, paint)


def check_line(check: Check | CheckFinished, paint: Paint) -> str:
    """A check and its result."""
    command = safe_line(one_line(check.command, _LONGEST_COMMAND))
    return f"check {command}: {_check_result(check, paint)}"


def _check_result(check: Check | CheckFinished, paint: Paint) -> str:
    took = duration(check.duration_s)
    if check.ok:
        return f"{paint('good', 'passed')} ({took})"
    if check.stopped == "timed_out":
        return paint("bad", f"timed out after {took}")
    if check.stopped == "interrupted":
        return paint("note", "interrupted")
    if check.exit_code is None:
        return f"{paint('bad', 'failed')} ({took})"
    hint = _HINTS.get(check.exit_code, "")
    return f"{paint('bad', 'failed')} (exit {check.exit_code}, {took}){hint}"


_HINTS = {
    NOT_FOUND: " · command not found",
    CANNOT_EXECUTE: " · the file is not executable",
}


def check_output(
    check: Check | CheckFinished, paint: Paint, *, most: int, redact: Callable[[str], str]
) -> Iterator[str]:
    """The last lines of the output of a check that failed; `redact` gets all of it."""
    if check.ok:
        return
    # guards: check-output-redacted
    output = [line for line in redact(check.output).split("\n") if line.strip()]
    if len(output) > most:
        yield paint("aside", f"  [...{len(output) - most} lines before]")
    yield from (f"  {safe_line(cut(line, _LONGEST_LINE))}" for line in output[-most:])


def _decision(event: Decision, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    if event.step == "continue":
        yield f"continues · {_reason(event.reason)}"
    elif event.step == "switch":
        yield f"switches to {event.agent} · {_reason(event.reason)}"
        if dropped := _dropped_options(event, plan):
            yield paint("note", f"without {dropped}, which {event.agent} may not support")


def _dropped_options(event: Decision, plan: LoopPlan) -> str:
    """The options for one agent that are not passed to the agent that replaces it."""
    run = plan.run
    if event.agent == run.agent:
        return ""
    options = (
        ("--via", run.via),
        ("--model", run.model),
        ("--allow", run.allow),
        (f"the arguments {shlex.join(run.args)}", run.args),
    )
    return safe_line(", ".join(name for name, value in options if value))


def _waiting(event: Waiting, _: LoopPlan, paint: Paint) -> Iterator[str]:
    yield waiting(event.until, event.left_s, event.reason, paint)


def waiting(until: float, left_s: float, reason: str, paint: Paint) -> str:
    """Describe a wait: its end, and its reason."""
    at = time.strftime("%H:%M", time.localtime(until))
    return f"{paint('note', f'waits until {at} (in {duration(left_s)})')}: {_reason(reason)}"


def _resumed(event: Resumed, _: LoopPlan, __: Paint) -> Iterator[str]:
    yield f"continues after waiting {duration(event.waited_s)}"


def _stuck(event: StuckSuspected, _: LoopPlan, paint: Paint) -> Iterator[str]:
    evidence = _reason(" · ".join(event.evidence))
    warning = paint("error", "WARNING")
    yield f"{warning}: the agent seems to be stuck: {_reason(event.reason)} ({evidence})"


_RENDERERS: Mapping[type, Callable[[Any, LoopPlan, Paint], Iterator[str]]] = {
    LoopStarted: _started,
    IterationStarted: _iteration_started,
    IterationFinished: _iteration_finished,
    CheckFinished: _check_finished,
    Decision: _decision,
    Waiting: _waiting,
    Resumed: _resumed,
    StuckSuspected: _stuck,
}


def goal(plan: LoopPlan) -> str:
    """Describe the goal: the conditions under which the loop is done."""
    parts = []
    if plan.goal.until is not None:
        answer = one_line(plan.goal.until, _LONGEST_COMMAND)
        parts.append(f"until the agent answers {answer!r}")
    if plan.goal.signals:
        parts.append(f"until the agent prints {' or '.join(plan.goal.signals)}")
    if plan.goal.ask_done:
        parts.append("until the agent answers with a one-time completion word")
    parts += [f"check {one_line(check, _LONGEST_COMMAND)}" for check in plan.goal.checks]
    return safe_line(" · ".join(parts))


def ceilings(most: Ceilings) -> str:
    """Describe the ceilings of a loop."""
    limits = Limits(
        time=duration(most.time_s),
        cost=f"${most.cost_usd:g}",
        tokens=f"{_large(most.tokens)} tokens",
        turns=count(most.turns, "turn"),
    )
    return " · ".join((count(most.iterations, "iteration"), *limits.values()))


def ending(end: LoopEnd, reason: str, paint: Paint) -> str:
    """The end of a loop, with its reason."""
    if end == "interrupted" and reason.startswith(end):  # it says so itself
        return paint("bad", _reason(reason))
    style = "good" if end == "done" else "bad"
    return f"{paint(style, end.replace('_', ' '))} · {_reason(reason)}"


def status(outcome: Outcome, paint: Paint) -> str:
    """The status of a run, in its colour."""
    return paint(style_of(outcome), outcome.replace("_", " "))


def iteration_status(attempt: Attempt) -> tuple[str, str]:
    """The status of an iteration and its style: a success is one only if its checks pass."""
    outcome = attempt.outcome
    style = "note" if outcome == "not_done" else style_of(outcome)
    return outcome.replace("_", " "), style


def check_status(attempt: Attempt) -> tuple[str, str]:
    """The result of an iteration's checks in a word or two, and its style."""
    failed = [check for check in attempt.checks if not check.ok]
    if not failed:
        return ("passed", "good") if attempt.checks else ("", "aside")
    if attempt.is_half_checked:
        return "interrupted", "note"
    if len(attempt.checks) > 1:
        return f"{len(failed)} of {len(attempt.checks)} failed", "bad"
    (check,) = failed
    return ("cannot run" if check.cannot_run else check.stopped or "failed").replace(
        "_", " "
    ), "bad"


def worktree(path: str, branch: str) -> str:
    """Describe a loop's own worktree."""
    return f"in the worktree {safe_line(path)} · branch {branch}"


def changes(files: int, added: int | None, removed: int | None) -> str:
    """The number of changed files and lines."""
    return f"{count(files, 'file')} {changed_lines(added, removed)}".rstrip()


def _reason(text: str) -> str:
    return safe_line(one_line(text, _LONGEST_REASON))


def _large(number: int) -> str:
    return f"{number / 1e6:g}M" if number >= 1_000_000 else f"{number}"


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
        """Status in a word or two."""
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
        """Runs of the loop, as rows under `head`."""
        rows = [row(attempt) for attempt in self.state.attempts] if self.state else []
        rows += [self._current_row(self.current)] if self.current else []
        return [self._with_columns(each) for each in rows]

    def _with_columns(self, cells: Row) -> Row:
        """Leave out the column of checks if the loop has none."""
        has_checks = bool(self.plan.goal.checks)
        pairs = zip(HEAD, cells, strict=True)
        return tuple(cell for name, cell in pairs if has_checks or name != "CHECK")

    def activity(self, paint: Paint) -> str:
        """Describe its current step, with how to watch or stop it; or its end."""
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
        """The commands that resume it, if it has stopped and can be resumed."""
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
    """The commands that resume a loop that has stopped, if it can be resumed."""
    command = f"resume:  {suggested('loop', '--resume', name)}"
    if state.can_resume:
        yield command
    elif state.end in ("ceiling", "unverified"):
        reached = reached_ceilings(
            plan.ceilings,
            iterations=state.iterations,
            used=state.used(state.elapsed_s(state.started_at)),
        )
        yield " ".join([command, *(ceiling.higher for ceiling in reached)])


def loop_json(folder: LoopFolder) -> dict[str, object]:
    """A loop as an object for programs."""
    try:
        state, plan, is_running = folder.state(), folder.plan(), folder.is_running
    except NightrookError as error:
        return {"loop": folder.name, "state": None, "error": str(error)}
    runs = (
        combined(each.report.run for each in state.attempts if each.report.run) if state else None
    )
    end = None if state is None or is_running else state.end
    return {
        "loop": folder.name,
        "running": is_running,
        "prompt": plan.run.prompt or plan.prompt_file,
        "state": state,
        "cwd": str(folder.worktree) if plan.worktree else plan.run.cwd,
        "model": (runs.model if runs else None) or plan.run.model,
        "tokens": runs.tokens if runs else None,
        "session": runs.session if runs else None,
        "exit_code": None if end is None else LOOP_EXIT_CODES[end],
        "files": runs.files if runs else None,
    }
