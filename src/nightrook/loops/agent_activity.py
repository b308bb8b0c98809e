"""What the agent of an iteration does, in brief, as events of the loop."""

from collections.abc import Iterator

from nightrook.loops.events import (
    AgentThinking,
    LoopEvent,
    SessionStats,
    ToolCompleted,
    ToolStarted,
)
from nightrook.model import events
from nightrook.model.text import cut

_LONGEST_TEXT = 200


def loop_events(event: events.Event, *, iteration: int, at: float) -> Iterator[LoopEvent]:
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
