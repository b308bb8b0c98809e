"""What was read since the last transaction, merged in memory."""

from collections.abc import Iterable

import msgspec

from rookery.adapter.history import Call, Finding, Limit, Session
from rookery.archive.ledger.merge import (
    TOKEN_BITS,
    CallId,
    KeyedCall,
    MergedCall,
    plausible,
    storable,
)
from rookery.archive.ledger.records import RunFigures, Source
from rookery.archive.ledger.sessions import MergedSession


class Batch:
    """Findings of several files, and how far these files were read."""

    def __init__(self) -> None:
        self.calls: dict[str, dict[CallId, MergedCall]] = {}
        """By agent and id."""
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

    def add(self, source: Source, findings: Iterable[Finding]) -> None:
        """Add what was read from a file. The source says how far, when the batch is written."""
        agent, path = source.agent, source.path
        self.sources[path] = source
        calls = self.calls.setdefault(agent, {})
        session: str | None = None
        for finding in findings:
            self.size += 1
            if isinstance(finding, Call):
                line = _checked(finding)
                if line.session != session:
                    session = line.session
                    self.session(agent, session)
                key = (line.id, session) if line.lineage else line.id
                known = calls.get(key)
                if known is None:
                    calls[key] = MergedCall.of(line, path)
                else:
                    known.add(line, path)
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


def _checked(line: Call) -> Call:
    """The line with values that the ledger can hold."""
    counts = line.input | line.output | line.cache_read | line.reasoning | line.web_searches
    if (counts | line.cache_write_5m | line.cache_write_1h) >> TOKEN_BITS:  # one is < 0 or huge
        line = plausible(line)
    if not line.session.isascii():
        line = msgspec.structs.replace(line, session=storable(line.session))
    return line
