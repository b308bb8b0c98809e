"""What the agent inside a loop does, in short, for those who watch the loop."""

from collections.abc import Iterator

from rookery.loops.events import AgentThinking, LoopEvent, SessionStats, ToolCompleted, ToolStarted
from rookery.model import events
from rookery.model.text import cut

_LONGEST_TEXT = 200


def told(event: events.Event, *, iteration: int, at: float) -> Iterator[LoopEvent]:
    """Turn an event of the agent's into what a consumer of the loop hears of it."""
    if isinstance(event, events.ToolStarted):
        name = event.name
        yield ToolStarted(at=at, iteration=iteration, tool_name=name, message=f"Tool: {name}")
    elif isinstance(event, events.ToolFinished):
        yield ToolCompleted(
            at=at, iteration=iteration, tool_name=event.name or "", status=event.status
        )
    elif isinstance(event, events.Text):
        if event.parent is None and event.text:
            said = cut(event.text, _LONGEST_TEXT)
            yield AgentThinking(at=at, iteration=iteration, message=said)
    elif isinstance(event, events.TurnFinished):
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
