"""The sessions that people had with agents, newest first, with the usage of each."""

import sqlite3
from collections.abc import Sequence

import msgspec

from nightrook.archive.report.figures import Amounts, Figures
from nightrook.model.durations import elapsed_s
from nightrook.store.list import Row

_MS = 1000
_SUMS = ", ".join(f"total(sums.{field})" for field in Amounts._fields)
# SQLite takes `sums.model` from the row that has the maximum.
_SESSIONS = f"""
SELECT sessions.agent, session, parent, sessions.project, sessions.branch, title, first_at, last_at,
       names.text, sessions.id, max(sums.quarter), {_SUMS}
FROM sessions
LEFT JOIN sums ON sums.session_id = sessions.id AND sums.run_id IS NULL
LEFT JOIN names ON names.id = sums.model
GROUP BY sessions.id
"""


_SIZES = """
SELECT session_id, sum(size) FROM (SELECT DISTINCT session_id, source_id FROM calls) AS own
JOIN sources ON sources.id = own.source_id WHERE kind != 'sqlite' GROUP BY session_id
"""


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a list; the sessions of its subagents are part of it."""

    session: str
    agent: str
    started_at: float | None = None
    """Start in seconds since 1970; `ended_at` likewise."""

    ended_at: float | None = None
    project: str | None = None
    branch: str | None = None
    title: str | None = None
    model: str | None = None
    """The last model it used."""

    size: int | None = None
    """Bytes of its files; None if its agent keeps all sessions in one store."""

    used: Figures
    """Usage without that of runs of rook: they are listed themselves."""

    @property
    def row(self) -> Row:
        """The same in a list of several kinds."""
        cost = self.used.cost_usd
        is_unknown = self.used.unpriced_tokens > 0
        return Row(
            kind="session",
            name=self.session,
            agent=self.agent,
            status="",
            started_at=self.started_at,
            ended_at=self.ended_at,
            seconds=elapsed_s(self.started_at, self.ended_at),
            spent_usd=None if is_unknown and not cost.total else cost.total,
            cost_source="estimated" if cost.estimated else "native",
            cost_at_least=is_unknown,
            cwd=self.project,
            model=self.model,
            session=self.session,
            size=self.size,
            what=self.title or "",
        )


class _Found(msgspec.Struct, kw_only=True):
    """A session in the ledger, with its usage and that of its subagents."""

    agent: str
    session: str
    parent: str | None
    project: str | None
    branch: str | None
    title: str | None
    first_at: int | None
    last_at: int | None
    model: str | None
    size: int | None = None
    amounts: Amounts

    def include(self, other: "_Found") -> None:
        """Add a subagent's session."""
        self.amounts = self.amounts.plus(other.amounts)
        self.first_at = min(filter(None, (self.first_at, other.first_at)), default=None)
        self.last_at = max(filter(None, (self.last_at, other.last_at)), default=None)
        self.model = self.model or other.model
        if self.size is not None or other.size is not None:
            self.size = (self.size or 0) + (other.size or 0)


def listed_sessions(connection: sqlite3.Connection) -> list[ListedSession]:
    """The sessions in which people, and not only runs of rook, used an agent; newest first."""
    every = {}
    sizes = dict(connection.execute(_SIZES))
    for row in connection.execute(_SESSIONS):
        facts = dict(zip(_Found.__struct_fields__, row, strict=False))
        facts["size"] = sizes.get(facts["size"])
        facts["amounts"] = Amounts(*map(int, row[-len(Amounts._fields) :]))
        every[row[0], row[1]] = _Found(**facts)
    for each in list(every.values()):
        root = _root(each, every)
        if root is not each:
            root.include(each)
    roots = [each for each in every.values() if _root(each, every) is each and any(each.amounts)]
    return [_listed(each) for each in sorted(roots, key=lambda each: -(each.last_at or 0))]


def session_use(connection: sqlite3.Connection, agent: str, ids: Sequence[str]) -> Figures:
    """Return the usage of some sessions of an agent together, in runs of rook or without them."""
    amounts = Amounts()
    query = (
        f"SELECT {_SUMS} FROM sums JOIN sessions ON sessions.id = sums.session_id "
        "WHERE sessions.agent = ? AND sessions.session = ?"
    )
    for id in ids:
        amounts = amounts.plus(map(int, connection.execute(query, (agent, id)).fetchone()))
    return amounts.figures


def _root(session: _Found, every: dict[tuple[str, str], _Found]) -> _Found:
    """The session that people started; the first of a circle, which only a damaged store has."""
    seen = [session]
    while session.parent is not None:
        parent = every.get((session.agent, session.parent))
        if parent is None:
            return session
        if any(parent is each for each in seen):
            return min(seen, key=lambda each: each.session)
        seen.append(session := parent)
    return session


def _listed(found: _Found) -> ListedSession:
    return ListedSession(
        session=found.session,
        agent=found.agent,
        started_at=None if found.first_at is None else found.first_at / _MS,
        ended_at=None if found.last_at is None else found.last_at / _MS,
        project=found.project,
        branch=found.branch,
        title=found.title,
        model=found.model,
        size=found.size,
        used=found.amounts.figures,
    )
