"""Facts about sessions, merged in whatever order they are read.

Where a session began holds: its project and its ancestors are those that were reported first.
What changes holds as it is now: its branch, title and version are those that were reported last.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from nightrook.adapter.history import Session
from nightrook.archive.ledger.calls import Names, greatest, in_parts, least, milliseconds, storable

_FIRST = ("project", "parent", "forked_from")
_LAST = ("branch", "title", "version")
_FACTS = (*_FIRST, *_LAST)
_NEVER = 0  # the time of a fact without one: any other is preferred

Fact = tuple[int, str]
"""Time at which a fact was reported, and its value."""

SessionKey = tuple[str, str]
"""Agent of a session and its id there."""

_times = msgspec.json.Decoder(dict[str, int | None]).decode
_encode = msgspec.json.Encoder().encode


class MergedSession(msgspec.Struct, gc=False):
    """The facts of one session, merged from its lines."""

    facts: dict[str, Fact] = {}
    first_at: int | None = None
    last_at: int | None = None

    def add(self, line: Session) -> None:
        """Add the facts of a line."""
        at = milliseconds(line.at)
        self._widen(at, at)
        for name in _FACTS:
            text = getattr(line, name)
            if text is not None:
                self._learn(name, (at or _NEVER, text))

    def merge(self, other: "MergedSession") -> None:
        """Add all that another one has."""
        self._widen(other.first_at, other.last_at)
        for name, fact in other.facts.items():
            self._learn(name, fact)

    def _widen(self, first: int | None, last: int | None) -> None:
        self.first_at, self.last_at = least(self.first_at, first), greatest(self.last_at, last)

    def _learn(self, name: str, fact: Fact) -> None:
        known = self.facts.get(name)
        if known is None or _replaces(name, known, fact):
            self.facts[name] = fact

    def row(self) -> tuple[str | None, ...]:
        """The columns of its facts, and when they were reported."""
        times: dict[str, int | None] = {"first": self.first_at, "last": self.last_at}
        facts = sorted(self.facts.items())
        times |= {name: at for name, (at, _) in facts if at != self.first_at}
        texts = (self.facts[name][1] if name in self.facts else None for name in _FACTS)
        return (*(text and storable(text) for text in texts), _encode(times).decode())

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> "MergedSession":
        """Read a session from a row made by `row`."""
        times = _times(row[-1])
        first = times.get("first")
        texts = zip(_FACTS, row, strict=False)
        facts = {
            name: (times.get(name, first) or _NEVER, text)
            for name, text in texts
            if text is not None
        }
        return cls(facts, times.get("first"), times.get("last"))


def _replaces(name: str, known: Fact, fact: Fact) -> bool:
    if name in _LAST:
        return fact > known
    return (fact[0] == _NEVER, fact) < (known[0] == _NEVER, known)


class SessionTable:
    """The table of sessions: the ids of those of a batch, which are added if they are new."""

    def __init__(self, connection: sqlite3.Connection, names: Names) -> None:
        self._connection = connection
        self._names = names
        self.ids: dict[SessionKey, int] = {}
        self.new: set[int] = set()
        """The ids of those that were added."""

    def known(self, sessions: Iterable[SessionKey]) -> set[int]:
        """The ids of those of these sessions that are there already."""
        return {number for _, number, _ in self._find(sessions)}

    def write(self, sessions: Mapping[SessionKey, MergedSession]) -> set[int]:
        """Merge facts about sessions; return the ids of those that changed."""
        stored = {key: (number, row) for key, number, row in self._find(sessions)}
        self.ids.update((key, number) for key, (number, _) in stored.items())
        new = [key for key in sessions if key not in stored]
        self._insert(new, sessions)
        added = {self.ids[key] for key in new}
        self.new |= added
        changed = set(added)
        for key, (number, row) in stored.items():
            if self._update(number, row, sessions[key]):
                changed.add(number)
        return changed

    def _find(
        self, sessions: Iterable[SessionKey]
    ) -> Iterator[tuple[SessionKey, int, tuple[Any, ...]]]:
        for agent, keys in groupby(sorted(sessions), itemgetter(0)):
            wanted = [storable(session) for _, session in keys]
            query = (
                f"SELECT session, id, {', '.join(_FACTS)}, facts_at FROM sessions WHERE agent = ?"
            )
            for row in in_parts(self._connection, f"{query} AND session", wanted, agent):
                yield (agent, row[0]), row[1], row[2:]

    def _insert(
        self, new: Iterable[SessionKey], sessions: Mapping[SessionKey, MergedSession]
    ) -> None:
        query = "SELECT coalesce(max(id), 0) FROM sessions"
        last: int = self._connection.execute(query).fetchone()[0]
        self.ids.update((key, number) for number, key in enumerate(new, last + 1))
        rows = ((self.ids[key], *key, *self._row(sessions[key])) for key in new)
        columns = f"id, agent, session, {', '.join(_FACTS)}, facts_at"
        marks = ", ".join("?" * (len(_FACTS) + 4))
        self._connection.executemany(f"INSERT INTO sessions ({columns}) VALUES ({marks})", rows)

    def _update(self, number: int, row: tuple[Any, ...], session: MergedSession) -> bool:
        merged = MergedSession.of(row)
        merged.merge(session)
        changed = self._row(merged)
        if changed == row:
            return False
        assignments = ", ".join(f"{name} = ?" for name in (*_FACTS, "facts_at"))
        self._connection.execute(
            f"UPDATE sessions SET {assignments} WHERE id = ?", (*changed, number)
        )
        return True

    def _row(self, session: MergedSession) -> tuple[str | None, ...]:
        row = session.row()
        for name in ("project", "branch"):
            self._names.id(row[_FACTS.index(name)])  # the sums need it
        return row


def read_sessions(connection: sqlite3.Connection) -> Iterator[tuple[SessionKey, MergedSession]]:
    """Yield all sessions with their facts."""
    query = f"SELECT agent, session, {', '.join(_FACTS)}, facts_at FROM sessions"
    for agent, session, *facts in connection.execute(query):
        yield (agent, session), MergedSession.of(tuple(facts))
