"""The steps of a loop as lines of text. Text that agents wrote is made safe."""

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nightrook.display.console import style_of
from nightrook.display.numbers import changed_lines, price
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
from nightrook.loops.plan import Ceilings, LoopPlan
from nightrook.loops.state import Attempt, Check
from nightrook.model.durations import duration
from nightrook.model.ledger import Money
from nightrook.model.limits import Limits
from nightrook.model.safe import safe_line
from nightrook.model.status import LoopEnd, Outcome
from nightrook.model.text import count, cut, one_line, suggested

_LONGEST_REASON = 160
_LONGEST_COMMAND = 60
_LONGEST_LINE = 200

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
    """When a wait ends, and why the loop waits."""
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
    """When the loop is done."""
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
    """All ceilings of a loop."""
    limits = Limits(
        time=duration(most.time_s),
        cost=f"${most.cost_usd:g}",
        tokens=f"{_large(most.tokens)} tokens",
        turns=count(most.turns, "turn"),
    )
    return " · ".join((count(most.iterations, "iteration"), *limits.values()))


def ending(end: LoopEnd, reason: str, paint: Paint) -> str:
    """How a loop ended, and why."""
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
    """Whether the checks of an iteration passed, in a word or two, and the style of it."""
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
    """Where a loop works that has a worktree of its own."""
    return f"in the worktree {safe_line(path)} · branch {branch}"


def changes(files: int, added: int | None, removed: int | None) -> str:
    """How many files changed, and by how many lines."""
    return f"{count(files, 'file')} {changed_lines(added, removed)}".rstrip()


def _reason(text: str) -> str:
    return safe_line(one_line(text, _LONGEST_REASON))


def _large(number: int) -> str:
    return f"{number / 1e6:g}M" if number >= 1_000_000 else f"{number}"
