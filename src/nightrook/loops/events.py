"""The events of a loop: its own steps, and in brief the actions of each iteration's agent."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from nightrook.loops.ceilings import CeilingName, Ceilings
from nightrook.model import events
from nightrook.model.ledger import Source
from nightrook.model.status import LoopEnd, Outcome
from nightrook.model.text import cut

CANNOT_EXECUTE, NOT_FOUND = 126, 127
"""The exit codes of a shell that cannot execute, or cannot find, a command."""

CheckStop = Literal["timed_out", "interrupted"]
"""The reason why a check was ended before its result was known."""

Step = Literal["finish", "continue", "wait", "switch"]


class _LoopEvent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type"):
    at: float


class LoopStarted(_LoopEvent, tag="loop_started", frozen=True, kw_only=True):
    """A loop started, or was resumed."""

    loop: str
    agent: str
    ceilings: Ceilings
    resumed: bool = False
    iterations: int = 0
    """Number of iterations before it was resumed."""

    worktree: str | None = None
    branch: str | None = None


class IterationStarted(_LoopEvent, tag="iteration_started", frozen=True, kw_only=True):
    """A run of the agent starts."""

    iteration: int
    attempt: int
    agent: str


class IterationFinished(_LoopEvent, tag="iteration_finished", frozen=True, kw_only=True):
    """One run of the agent ended."""

    iteration: int
    attempt: int
    agent: str
    run: str | None = None
    status: Outcome
    sentence: str
    duration_s: float
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    tokens: int | None = None
    turns: int | None = None
    said_done: bool = False
    files: int | None = None
    added: int | None = None
    removed: int | None = None
    commit: str | None = None
    left_out: tuple[str, ...] = ()
    """Changed files that are never committed: `.env`, ignored ones, those of a filter."""


class CheckStarted(_LoopEvent, tag="check_started", frozen=True, kw_only=True):
    """A check starts: a command of the user's that decides whether the work is done."""

    iteration: int
    command: str


class CheckFinished(_LoopEvent, tag="check_finished", frozen=True, kw_only=True):
    """A check ended."""

    iteration: int
    command: str
    ok: bool
    exit_code: int | None = None
    stopped: CheckStop | None = None
    duration_s: float
    output: str = ""
    """The last part of its output."""


class Decision(_LoopEvent, tag="decision", frozen=True, kw_only=True):
    """Next step of the loop, and the reason."""

    step: Step
    rule: str
    reason: str
    evidence: tuple[str, ...] = ()
    end: LoopEnd | None = None
    until: float | None = None
    agent: str | None = None
    ceiling: CeilingName | None = None
    """The ceiling that was reached, if one ended the loop."""


class Waiting(_LoopEvent, tag="waiting", frozen=True, kw_only=True):
    """The loop waits; repeated at least every ten minutes."""

    until: float
    left_s: float
    reason: str


class Resumed(_LoopEvent, tag="resumed", frozen=True, kw_only=True):
    """The wait is over."""

    waited_s: float


class StuckSuspected(_LoopEvent, tag="stuck_suspected", frozen=True, kw_only=True):
    """The agent seems to be stuck, with the evidence."""

    iteration: int
    reason: str
    evidence: tuple[str, ...] = ()


class ToolStarted(_LoopEvent, tag="tool_started", frozen=True, kw_only=True):
    """The agent called a tool."""

    iteration: int
    tool_name: str
    message: str


class ToolCompleted(_LoopEvent, tag="tool_completed", frozen=True, kw_only=True):
    """A tool call of the agent ended."""

    iteration: int
    tool_name: str
    status: str


class AgentThinking(_LoopEvent, tag="agent_thinking", frozen=True, kw_only=True):
    """The first part of a text that the agent wrote."""

    iteration: int
    message: str


class SessionStats(_LoopEvent, tag="session_stats", frozen=True, kw_only=True):
    """Cost and usage of a turn of the agent."""

    iteration: int
    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    turns: int | None = None
    message: str


class LoopFinished(_LoopEvent, tag="loop_finished", frozen=True, kw_only=True):
    """The loop ended."""

    loop: str
    end: LoopEnd
    exit_code: int
    reason: str
    iterations: int
    duration_s: float
    spent_usd: float | None = None
    """The sum of all known costs."""

    cost_source: Source = "unknown"
    unknown_costs: int = 0
    """Number of runs that reported no cost."""


LoopEvent = (
    LoopStarted
    | IterationStarted
    | IterationFinished
    | CheckStarted
    | CheckFinished
    | Decision
    | Waiting
    | Resumed
    | StuckSuspected
    | ToolStarted
    | ToolCompleted
    | AgentThinking
    | SessionStats
    | LoopFinished
)

AGENT_EVENTS = (ToolStarted, ToolCompleted, AgentThinking, SessionStats)
"""The events that report the actions of an iteration's agent."""


_LONGEST_TEXT = 200


def agent_events(event: events.Event, *, iteration: int, at: float) -> Iterator[LoopEvent]:
    """Convert an event of the agent into the loop's events; most have none."""
    match event:
        case events.ToolStarted(name=name):
            yield ToolStarted(at=at, iteration=iteration, tool_name=name, message=f"Tool: {name}")
        case events.ToolFinished(name=name, status=status):
            yield ToolCompleted(at=at, iteration=iteration, tool_name=name or "", status=status)
        case events.Text(parent=None, text=text) if text:
            message = cut(text, _LONGEST_TEXT)
            yield AgentThinking(at=at, iteration=iteration, message=message)
        case events.TurnFinished():
            yield _stats(event, iteration=iteration, at=at)


def _stats(turn: events.TurnFinished, *, iteration: int, at: float) -> SessionStats:
    usage = turn.usage
    cost = "unknown" if turn.cost_usd is None else f"${turn.cost_usd:.4f}"
    turns = "unknown" if turn.turns is None else str(turn.turns)
    return SessionStats(
        at=at,
        iteration=iteration,
        cost_usd=turn.cost_usd,
        tokens_in=None if usage is None else _input(usage),
        tokens_out=None if usage is None else usage.output,
        turns=turn.turns,
        message=f"Cost: {cost}, Turns: {turns}",
    )


def _input(usage: events.Usage) -> int | None:
    parts = (usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h)
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
