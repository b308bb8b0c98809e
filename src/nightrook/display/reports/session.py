"""The report of a stored session, from its folded records."""

from typing import NamedTuple

from nightrook.display.reports.report import Report
from nightrook.display.reports.run import reported_files
from nightrook.model.answer import final_text
from nightrook.model.ending import Ending
from nightrook.model.ledger import Money
from nightrook.model.state import RunState


class SessionFacts(NamedTuple):
    """Facts about a session that its records do not have."""

    id: str
    agent: str
    title: str | None
    cost: Money
    tokens: int | None
    started_at: float | None = None
    ended_at: float | None = None


def session_report(known: SessionFacts, state: RunState) -> Report:
    """Report a session; its status says how its last turn ended."""
    ending = Ending.of_session(state, started_at=known.started_at, ended_at=known.ended_at)
    return Report(
        kind="session",
        name=known.id,
        status=ending.status,
        ok=ending.ok,
        prompt=known.title,
        agent=known.agent,
        model=state.model,
        duration_s=ending.duration_s,
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
