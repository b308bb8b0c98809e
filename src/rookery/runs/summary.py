"""A run in one object: what `rook decode --summary` prints of a file."""

import msgspec

from rookery.model.completion import final_text
from rookery.model.ledger import Source
from rookery.model.snapshot import TokenCounts, ToolCounts
from rookery.model.state import RunState
from rookery.model.verdict import Outcome, judge


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, what it cost and how it ended."""

    file: str
    agent: str | None
    version: str | None
    model: str | None
    ok: bool
    status: Outcome
    text: str | None
    turns: int
    cost_usd: float | None
    spent_usd: float | None
    cost_source: Source
    tokens: TokenCounts
    tools: ToolCounts
    lines: int
    unknown: int
    unreadable: int
    truncated: bool


def summarise(state: RunState, *, file: str, agent: str | None) -> Summary:
    """Put a folded stream into one object; how its process ended is not known here."""
    cost_usd, source = _cost(state)
    return Summary(
        file=file,
        agent=agent,
        version=state.version,
        model=state.model,
        ok=bool(state.turns and state.turns[-1].result and state.turns[-1].result.ok),
        status=judge(state).status,
        text=final_text(state),
        turns=len(state.turns),
        cost_usd=cost_usd,
        spent_usd=state.ledger.spent_usd,
        cost_source=source,
        tokens=state.token_counts,
        tools=state.tool_counts,
        lines=state.closed.lines if state.closed else 0,
        unknown=state.unknown.total(),
        unreadable=state.unreadable,
        truncated=bool(state.closed and state.closed.truncated),
    )


def _cost(state: RunState) -> tuple[float | None, Source]:
    """The agent's own figure if it gave one, else the estimate."""
    if state.ledger.native_usd is not None:
        return state.ledger.native_usd, "native"
    return state.ledger.cost.usd, state.ledger.cost.source
