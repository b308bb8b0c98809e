"""Writes a batch: sources, sessions, calls and runs, then what follows from them."""

import sqlite3
from collections.abc import Iterator

from rookery.archive.ledger.batch import Batch
from rookery.archive.ledger.merge import KeyedCall
from rookery.archive.ledger.pricing import Rates
from rookery.archive.ledger.rows import (
    INSERT,
    INSERT_PLAIN,
    Names,
    Row,
    call_key,
    find_rows,
    from_row,
    lineage_key,
    normal,
    plain_row,
    to_row,
)
from rookery.archive.ledger.run_shares import share_runs, write_runs
from rookery.archive.ledger.sessions import SessionTable
from rookery.archive.ledger.settle import set_ranges, settle
from rookery.archive.ledger.side_tables import write_limits, write_sources
from rookery.archive.ledger.sums import make_sums
from rookery.archive.ledger.touched import Touched


def write(connection: sqlite3.Connection, batch: Batch, rates: Rates) -> int:
    """Write a batch inside of the caller's transaction; return how many calls are new."""
    names, touched = Names(connection), Touched(connection)
    sources = write_sources(connection, batch.sources.values())
    sessions = SessionTable(connection, names)
    touched.add(sessions.write(batch.sessions))
    calls = _CallTable(connection, names, rates)
    touched.add(calls.write([*_keyed(batch), *batch.carried], sessions, sources))
    write_limits(connection, batch.limits)
    touched.add(write_runs(connection, batch.runs.values(), sessions))
    conclude(connection, touched, rates, names)
    return calls.new


def conclude(connection: sqlite3.Connection, touched: Touched, rates: Rates, names: Names) -> None:
    """Compute all that follows from the calls of touched sessions."""
    settle(connection, touched, rates, names)
    share_runs(connection, touched, rates, names)
    set_ranges(connection)
    make_sums(connection)


def _keyed(batch: Batch) -> Iterator[KeyedCall]:
    for agent, calls in batch.calls.items():
        for identity, call in calls.items():
            lineage = None if isinstance(identity, str) else lineage_key(agent, identity[0])
            yield KeyedCall(call_key(agent, identity), agent, lineage, call)


class _CallTable:
    """The table of calls: those of a batch are merged with those that are there."""

    def __init__(self, connection: sqlite3.Connection, names: Names, rates: Rates) -> None:
        self._connection = connection
        self._names = names
        self._rates = rates
        self.new = 0
        """How many calls were not there before."""

    def write(
        self, calls: list[KeyedCall], sessions: SessionTable, sources: dict[str, int]
    ) -> set[int]:
        """Merge calls into the table; return the ids of the sessions that changed."""
        stored = self._stored([key for key, *_ in calls])
        self.new += len(calls) - len(stored)
        touched: set[int] = set()
        plain: list[Row] = []
        others: list[Row] = []
        names, cost, numbers = self._names, self._rates.cost, sessions.ids
        for key, agent, lineage, call in calls:
            before = stored.get(key)
            if before is not None:
                call.merge(from_row(before, names))
            session = numbers.get((agent, call.own.session)) or _session(before)
            ids = (session, sources.get(call.source, 0))
            row = plain_row(call, key, names, ids) if before is None and lineage is None else None
            if row is not None:
                plain.append(row + cost(call.usage, call.at))
                touched.add(session)
                continue
            row = to_row(call, key, lineage, names, ids)
            if before is None or row != normal(before):
                others.append(row + cost(call.usage, call.at))
                touched.update((session,) if before is None else (session, before[1]))
        self._connection.executemany(INSERT_PLAIN, plain)
        self._connection.executemany(INSERT, others)
        return touched

    def _stored(self, keys: list[int]) -> dict[int, Row]:
        """The rows of calls that are there already."""
        if self._connection.execute("SELECT 1 FROM calls LIMIT 1").fetchone() is None:
            return {}
        return {row[0]: row for row in find_rows(self._connection, keys)}


def _session(before: Row | None) -> int:
    """The id of the session that a call had before."""
    assert before is not None, "a call of a batch has a session of the batch"
    kept: int = before[1]
    return kept
