"""Findings since the last transaction, merged in memory.

Most calls are plain: they have a time, a session, a project, a branch, a model and tokens, and
nothing else. A first import reads tens of thousands of them. So they are kept in groups that have
all but their times and tokens in common, as they were read; all others are merged one by one.
"""

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from nightrook.adapter.history import Call, CallRow, Calls, Finding, Limit, Session
from nightrook.archive.ledger.calls import (
    LATEST_S,
    TOKEN_BITS,
    CallId,
    KeyedCall,
    MergedCall,
    storable,
)
from nightrook.archive.ledger.limits import limit_rank
from nightrook.archive.ledger.runs import RunFigures
from nightrook.archive.ledger.sessions import MergedSession
from nightrook.archive.ledger.sources import Source


class Batch:
    """Findings of several files, and how far these files were read."""

    def __init__(self) -> None:
        self.calls: dict[str, AgentCalls] = {}
        """Calls by agent."""
        self.sessions: dict[tuple[str, str], MergedSession] = {}
        """Sessions by agent and id."""
        self.limits: dict[tuple[str, str, str], Limit] = {}
        """The latest of each agent, window and plan."""
        self.sources: dict[str, Source] = {}
        """Sources by path."""
        self.runs: dict[str, RunFigures] = {}
        """Figures of runs by name."""
        self.carried: list[KeyedCall] = []
        """Calls of another ledger."""
        self.size = 0
        """Number of lines added."""

    def add(self, source: Source, findings: Sequence[Finding]) -> None:
        """Add findings of a file. Its source has the position when the batch is written."""
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
        """Add the figures of a run of rook; they replace earlier ones of that run."""
        self.runs[figures.name] = figures

    def session(self, agent: str, session: str) -> MergedSession:
        """Return the merged facts of a session, empty if the batch has none yet."""
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


class PlainCalls:
    """Plain calls of one file that have a session, a model, a project and a branch in common."""

    def __init__(self, path: str, calls: Calls) -> None:
        self.path = path
        self.calls = calls
        """The calls of the group, each once."""
        self._by_id: dict[str, CallRow] = {}
        self._taken: set[str] = set()

    @property
    def rows(self) -> Sequence[CallRow]:
        """Rows of all calls but those that were taken out."""
        rows, taken = self.calls.rows, self._taken
        return [row for row in rows if row[0] not in taken] if taken else rows

    def row(self, id: str) -> CallRow:
        """Return the fields in which a call differs from the others of its group."""
        unknown = islice(self.calls.rows, len(self._by_id), None)
        self._by_id.update((row[0], row) for row in unknown)
        return self._by_id[id]

    def take(self, id: str) -> MergedCall:
        """Take out a call that is to be merged with other lines."""
        self._taken.add(id)
        return self.merged(self.row(id))

    def repeats(self, other: "PlainCalls", row: CallRow) -> bool:
        """True if a call of another group repeats one of this group and reports nothing new."""
        id, at, *tokens = row
        _, before, *same = self.row(id)
        return (
            at >= before
            and tokens == same
            and self.path == other.path
            and _about(self.calls) == _about(other.calls)
        )

    def merged(self, row: CallRow) -> MergedCall:
        """Return one of the plain calls in the form of all others."""
        return MergedCall.of(self.calls.call(row), self.path)


def _about(calls: Calls) -> tuple[str, str, str, str]:
    """Return the fields that the calls of a group share."""
    return (calls.session, calls.model, calls.project, calls.branch)


class AgentCalls:
    """The calls of one agent in a batch: plain ones in groups, and all others."""

    def __init__(self) -> None:
        self.plain: list[PlainCalls] = []
        self.merged: dict[CallId, MergedCall] = {}
        self._places: dict[CallId, PlainCalls] = {}  # of all calls that are or were plain
        self._open: dict[tuple[str | None, ...], PlainCalls] = {}  # calls that come one at a time

    def add(self, line: Call, path: str) -> None:
        """Add a line about a call."""
        id = (line.id, storable(line.session)) if line.lineage else line.id
        known = self.merged.get(id)
        if known is None and isinstance(id, str) and id in self._places:
            known = self.merged[id] = self._places[id].take(id)
        if known is not None:
            known.add(line, path)
        elif (row := plain_row(line)) is None:
            self.merged[id] = MergedCall.of(line, path)
        else:
            self._place(line, path, row)

    def add_all(self, found: Calls, path: str) -> None:
        """Add calls as `add` does one; those that are new and credible, all at once."""
        group = PlainCalls(path, found)
        new: dict[CallId, PlainCalls] = dict.fromkeys([row[0] for row in found.rows], group)
        if (
            len(new) == len(found.rows)
            and self._places.keys().isdisjoint(new)
            and self.merged.keys().isdisjoint(new)
            and all(map(_is_credible, found.rows))
            and found.session.isascii()
        ):
            self._places |= new
            self.plain.append(group)
        else:
            self._add_each(found, path)

    def _add_each(self, found: Calls, path: str) -> None:
        group = PlainCalls(path, replace(found, rows=[]))
        is_storable = found.session.isascii()
        for row in found.rows:
            id = row[0]
            known = None if id in self.merged else self._places.get(id)
            if known is not None and known.repeats(group, row):
                continue
            if known is None and id not in self.merged and is_storable and _is_credible(row):
                group.calls.rows.append(row)
                self._places[id] = group
            else:
                self.add(found.call(row), path)
        if group.calls.rows:
            self.plain.append(group)

    def _place(self, line: Call, path: str, row: CallRow) -> None:
        about = (path, line.session, line.model, line.project, line.branch)
        group = self._open.get(about)
        if group is None:
            group = self._open[about] = PlainCalls(path, _calls_like(line))
            self.plain.append(group)
        group.calls.rows.append(row)
        self._places[line.id] = group


def plain_calls(line: Call, path: str) -> PlainCalls | None:
    """A line as a plain call; None if it has more than that, less or impossible values."""
    row = plain_row(line)
    if row is None:
        return None
    calls = _calls_like(line)
    calls.rows.append(row)
    return PlainCalls(path, calls)


def plain_row(line: Call) -> CallRow | None:
    """Return the row of a plain call; None if it has more, less or impossible values."""
    if (
        line.at is None
        or line.cost_usd is not None
        or line.subagent is not None
        or line.web_searches
        or line.fast
        or line.summed
        or line.copied
        or line.lineage
        or line.fallback
        or line.model is None
        or line.project is None
        or line.branch is None
        or not line.session.isascii()
    ):
        return None
    row = (
        line.id, line.at, line.input, line.output, line.cache_read,
        line.cache_write_5m, line.cache_write_1h, line.reasoning,
    )  # fmt: skip
    return row if _is_credible(row) else None


def _is_credible(row: CallRow) -> bool:
    _, at, input, output, read, short, long, reasoning = row
    return (
        0 < at < LATEST_S and not (input | output | read | short | long | reasoning) >> TOKEN_BITS
    )


def _calls_like(line: Call) -> Calls:
    """Return an empty group with the fields that a plain call shares with others."""
    return Calls(
        session=line.session,
        model=line.model or "",
        project=line.project or "",
        branch=line.branch or "",
    )
