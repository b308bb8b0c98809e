"""A loop in words: a line per step, and rows for a table. What agents wrote is made safe."""

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rookery.loops.current_run import Going
from rookery.loops.events import (
    CANNOT_EXECUTE,
    NOT_FOUND,
    CheckFinished,
    Decision,
    End,
    IterationFinished,
    IterationStarted,
    LoopEvent,
    LoopStarted,
    Resumed,
    StuckSuspected,
    Waiting,
)
from rookery.loops.plan import Ceilings, LoopPlan
from rookery.loops.rules import reached
from rookery.loops.state import Attempt, Check, LoopState
from rookery.model.ledger import Source, least_certain
from rookery.model.price import dollars, nano
from rookery.model.safe import safe_line
from rookery.model.text import count, cut, one_line
from rookery.model.verdict import Outcome

_LONGEST_REASON = 160
_LONGEST_WHY = 60
_LONGEST_COMMAND = 60
_LONGEST_LINE = 200

Paint = Callable[[str, str], str]
"""Gives text in a style: `strong`, `good`, `bad`, `error`, `note` or `aside`."""

Row = tuple[str, str, str, str, str, str, str]

HEAD = ("", "STATUS", "TIME", "COST", "CHANGES", "RUN", "WHY")
"""What stands above the rows of runs."""


def lines(event: LoopEvent, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    """Say a step; the end and what the agent inside does are shown by others."""
    say = _WORDS.get(type(event))
    return iter(()) if say is None else say(event, plan, paint)


def _started(event: LoopStarted, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    again = f" · goes on after iteration {event.iterations}" if event.resumed else ""
    yield f"{paint('strong', event.loop)} · {goal(plan)}{again}"
    yield f"at most {ceilings(event.ceilings)}"
    if event.worktree and event.branch:
        yield worktree(event.worktree, event.branch)


def _iteration_started(event: IterationStarted, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    which = f"iteration {event.iteration} of {plan.ceilings.iterations}"
    who = plan.called if plan.called and event.agent == plan.agent else event.agent
    yield paint("strong", f"── {which} · {safe_line(who)} ──")


def _iteration_finished(event: IterationFinished, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    parts = [status(event.status, paint), span(event.duration_s)]
    parts.append(money(event.spent_usd, event.cost_source))
    if event.files:
        parts.append(changes(event.files, event.added, event.removed))
    if event.commit:
        parts.append(f"commit {event.commit}")
    if event.run:
        parts.append(f"rook show {event.run}")
    yield " · ".join(parts)


def _check_finished(event: CheckFinished, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    yield check(event, paint)


def check(told: Check | CheckFinished, paint: Paint) -> str:
    """How a check went."""
    command = safe_line(one_line(told.command, _LONGEST_COMMAND))
    return f"check {command}: {_went(told, paint)}"


def _went(told: Check | CheckFinished, paint: Paint) -> str:
    took = span(told.duration_s)
    if told.ok:
        return f"{paint('good', 'passed')} ({took})"
    if told.stopped == "timed_out":
        return paint("bad", f"timed out after {took}")
    if told.stopped == "interrupted":
        return paint("note", "interrupted")
    if told.exit_code is None:
        return f"{paint('bad', 'failed')} ({took})"
    hint = _HINTS.get(told.exit_code, "")
    return f"{paint('bad', 'failed')} (exit {told.exit_code}, {took}){hint}"


_HINTS = {
    NOT_FOUND: " · not found: is the command right?",
    CANNOT_EXECUTE: " · it cannot be run: is it executable?",
}


def check_output(told: Check | CheckFinished, paint: Paint, *, most: int) -> Iterator[str]:
    """The last lines of what a check printed that did not pass."""
    if told.ok:
        return
    lines = [line for line in told.output.split("\n") if line.strip()]
    if len(lines) > most:
        yield paint("aside", f"  [...{len(lines) - most} lines before]")
    yield from (f"  {safe_line(cut(line, _LONGEST_LINE))}" for line in lines[-most:])


def _decision(event: Decision, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    if event.step == "continue":
        yield f"goes on · {_reason(event.reason)}"
    elif event.step == "switch":
        yield f"goes on with {event.agent} · {_reason(event.reason)}"
        if left := _left_behind(event, plan):
            yield paint("note", f"without {left}, which {event.agent} may not know")


def _left_behind(event: Decision, plan: LoopPlan) -> str:
    """What was asked for one agent, and is not passed to the one that takes over."""
    if event.agent == plan.agent:
        return ""
    asked = (
        ("--via", plan.via),
        ("--model", plan.model),
        ("--allow", plan.allow),
        (f"the arguments {shlex.join(plan.args)}", plan.args),
    )
    return safe_line(", ".join(name for name, given in asked if given))


def _waiting(event: Waiting, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    yield waiting(event.until, event.left_s, event.reason, paint)


def waiting(until: float, left_s: float, reason: str, paint: Paint) -> str:
    """Until when a loop waits, and why."""
    at = time.strftime("%H:%M", time.localtime(until))
    return f"{paint('note', f'waits until {at} (in {span(left_s)})')}: {_reason(reason)}"


def _resumed(event: Resumed, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    yield f"goes on after {span(event.waited_s)}"


def _stuck(event: StuckSuspected, plan: LoopPlan, paint: Paint) -> Iterator[str]:
    told = _reason(" · ".join(event.evidence))
    yield f"{paint('error', 'WARNING')}: it seems to be stuck: {_reason(event.reason)} ({told})"


_WORDS: Mapping[type, Callable[[Any, LoopPlan, Paint], Iterator[str]]] = {
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
    """What the loop is after."""
    parts = []
    if plan.goal.until is not None:
        parts.append(f"until it answers {one_line(plan.goal.until, _LONGEST_COMMAND)!r}")
    if plan.goal.signals:
        parts.append(f"until it says {' or '.join(plan.goal.signals)}")
    if plan.goal.ask_done:
        parts.append("until it says done by a word of its own")
    parts += [f"check {one_line(check, _LONGEST_COMMAND)}" for check in plan.goal.checks]
    return safe_line(" · ".join(parts))


def ceilings(most: Ceilings) -> str:
    """All ceilings, so that nobody is surprised by one."""
    return (
        f"{count(most.iterations, 'iteration')} · {span(most.time_s)} · ${most.cost_usd:g} · "
        f"{_large(most.tokens)} tokens · {count(most.turns, 'turn')}"
    )


def ending(end: End, reason: str, paint: Paint) -> str:
    """How a loop ended, and why."""
    return f"{paint('good' if end == 'done' else 'bad', end.replace('_', ' '))} · {_reason(reason)}"


def status(outcome: Outcome, paint: Paint) -> str:
    """How a run ended, in the colour of it."""
    style = "good" if outcome == "success" else "note" if outcome == "limited" else "bad"
    return paint(style, outcome.replace("_", " "))


def worktree(path: str, branch: str) -> str:
    """Where a loop works that has a worktree of its own."""
    return f"in the worktree {safe_line(path)} · branch {branch}"


def row(attempt: Attempt) -> Row:
    """A run as a row of a table, under `HEAD`."""
    report, change = attempt.report, attempt.change
    changed = ""
    if change is not None and change.files:
        changed = changes(change.files, change.added, change.removed)
    elif change is None and report.files_changed:
        changed = changes(report.files_changed, None, None)
    return (
        f"{attempt.iteration}" if attempt.counts else "–",
        report.status.replace("_", " "),
        span(report.ended_at - report.started_at),
        "" if report.status == "not_started" else money(report.spent_usd, report.cost_source),
        " · ".join(part for part in (changed, attempt.commit) if part),
        report.run or "",
        safe_line(one_line(attempt.why, _LONGEST_WHY)),
    )


def going_row(going: Going, status: str, *, now: float) -> Row:
    """A run that has not ended yet, or whose loop was cut off, as a row under `HEAD`."""
    took = span((going.ended_at or now) - going.started_at)
    spent = money(going.spent_usd, going.cost_source)
    return (f"{going.iteration}", status, took, spent, "", going.run, "")


def total(state: LoopState, *, now: float, going: Going | None = None) -> str:
    """What it took up to its end, or up to now and with the run that is going on; and who says so.

    The iteration that is going on is not counted yet, but what it spent is spent.
    """
    parts = [
        count(state.iterations, "iteration"),
        span(state.elapsed_s(now)),
    ]
    ran = sum(attempt.report.status != "not_started" for attempt in state.attempts)
    told = [(state.spent_usd, state.cost_source)] if ran > state.unknown_costs else []
    unknown = state.unknown_costs
    if going is not None and going.spent_usd is not None:
        told.append((going.spent_usd, going.cost_source))
    elif going is not None:
        unknown += 1
    if told:
        rest = f" and what {unknown} did not tell" if unknown else ""
        spent = dollars(sum(nano(usd) for usd, _ in told))
        parts.append(money(spent, least_certain(source for _, source in told)) + rest)
    elif unknown:
        parts.append(money(None, "unknown"))
    return " · ".join(parts)


def way_on(name: str, plan: LoopPlan, state: LoopState) -> Iterator[str]:
    """How to go on with a loop that has stopped, if one can."""
    if state.can_go_on:
        yield f"go on with:  rook loop --resume {name}"
    elif state.end in ("ceiling", "unverified"):
        flags = [flag for _, flag in reached(plan.ceilings, state, state.ended_at or 0.0)]
        yield f"go on with:  rook loop --resume {name} {' '.join(flags)}".rstrip()


def money(usd: float | None, source: Source) -> str:
    """An amount with its provenance."""
    if usd is None:
        return "$?"
    return f"${usd:.4f}" if source == "native" else f"~${usd:.4f}"


def changes(files: int, added: int | None, removed: int | None) -> str:
    """How many files changed, and by how many lines."""
    told = count(files, "file")
    return told if added is None or removed is None else f"{told} +{added} −{removed}"


def span(seconds: float) -> str:
    """A length of time as people say it."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{seconds:.1f}s" if seconds < 10 else f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def _reason(text: str) -> str:
    return safe_line(one_line(text, _LONGEST_REASON))


def _large(number: int) -> str:
    return f"{number / 1e6:g}M" if number >= 1_000_000 else f"{number}"
