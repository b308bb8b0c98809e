"""What was read since the last transaction, merged in memory."""

from collections.abc import Sequence

from nightrook.adapter.history import Call, Calls, Finding, Limit, Session
from nightrook.archive.ledger.merge import KeyedCall, storable
from nightrook.archive.ledger.plain_calls import AgentCalls
from nightrook.archive.ledger.records import RunFigures, Source
from nightrook.archive.ledger.sessions import MergedSession


class Batch:
    """Findings of several files, and how far these files were read."""

    def __init__(self) -> None:
        self.calls: dict[str, AgentCalls] = {}
        """By agent."""
        self.sessions: dict[tuple[str, str], MergedSession] = {}
        """By agent and id."""
        self.limits: dict[tuple[str, str, str], Limit] = {}
        """The latest of each agent, window and plan."""
        self.sources: dict[str, Source] = {}
        """By path."""
        self.runs: dict[str, RunFigures] = {}
        """By name."""
        self.carried: list[KeyedCall] = []
        """Calls of another ledger."""
        self.size = 0
        """How many lines were added."""

    def add(self, source: Source, findings: Sequence[Finding]) -> None:
        """Add what was read from a file. The source says how far, when the batch is written."""
        agent, path = source.agent, source.path
        self.sources[path] = source
        self.size += len(findings)
        calls = self.calls.setdefault(agent, AgentCalls())
        session: str | None = None
        for finding in findings:
            if isinstance(finding, Call):
                if finding.session != session:
                    session = finding.session
                    self.session(agent, session)
                calls.add(finding, path)
            elif isinstance(finding, Calls):
                self.size += len(finding.rows)
                self.session(agent, finding.session)
                calls.add_all(finding, path)
            elif isinstance(finding, Session):
                self.session(agent, finding.id).add(finding)
            else:
                self._add_limit(agent, finding)

    def carry(self, call: KeyedCall) -> None:
        """Add a call of another ledger."""
        self.carried.append(call)
        self.session(call.agent, call.call.own.session)

    def add_run(self, figures: RunFigures) -> None:
        """Add what a run of rook reports; it replaces what is known about that run."""
        self.runs[figures.name] = figures

    def session(self, agent: str, session: str) -> MergedSession:
        """What this batch knows about a session."""
        session = storable(session)
        known = self.sessions.get((agent, session))
        if known is None:
            known = self.sessions[agent, session] = MergedSession()
        return known

    def _add_limit(self, agent: str, limit: Limit) -> None:
        key = (agent, limit.window, limit.plan or "")
        known = self.limits.get(key)
        if known is None or limit_rank(limit) > limit_rank(known):
            self.limits[key] = limit


def limit_rank(limit: Limit) -> tuple[float, float, float]:
    """The later of two reports holds; of two at the same time the higher one."""
    return (limit.at, limit.used or 0, limit.resets_at or 0)
