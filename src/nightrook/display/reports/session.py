"""The report of a stored session, from its folded records."""

from typing import NamedTuple

from nightrook.display.reports.report import Report
from nightrook.display.reports.run import reported_files
from nightrook.model.completion import final_text
from nightrook.model.ledger import Money
from nightrook.model.state import RunState


class SessionFacts(NamedTuple):
    """What is known of a session beside its records."""

    id: str
    agent: str
    title: str | None
    cost: Money
    tokens: int | None
    duration_s: float | None = None


def session_report(known: SessionFacts, state: RunState) -> Report:
    """Report a session; its status says how its last turn ended."""
    status = _status(state)
    return Report(
        kind="session",
        name=known.id,
        status=status,
        ok=status != "failed",
        prompt=known.title,
        agent=known.agent,
        model=state.model,
        duration_s=known.duration_s,
        spent_usd=known.cost.usd,
        cost_source=known.cost.source,
        cost_at_least=known.cost.at_least,
        tokens=known.tokens,
        turns=len(state.turns) or None,
        tools=state.tool_counts,
        files=reported_files(state),
        errors=tuple(error.message or error.kind for error in state.errors),
        answer=final_text(state),
    )


def _status(state: RunState) -> str:
    last = state.turns[-1].result if state.turns else None
    if last is None:
        return "unfinished"
    return "answered" if last.ok else "failed"
