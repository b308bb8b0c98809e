"""Writes a batch: sources, sessions, calls and runs, then what follows from them."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from nightrook.archive.ledger.batch import Batch
from nightrook.archive.ledger.merge import CallId, KeyedCall, MergedCall
from nightrook.archive.ledger.plain_calls import PlainCalls, PlainTable, plain_calls
from nightrook.archive.ledger.pricing import Rates
from nightrook.archive.ledger.rows import (
    INSERT,
    Names,
    Row,
    call_keys,
    find_rows,
    from_row,
    lineage_key,
    normal,
    to_row,
)
from nightrook.archive.ledger.run_shares import has_runs, share_runs, write_runs
from nightrook.archive.ledger.sessions import SessionKey, SessionTable
from nightrook.archive.ledger.settle import make_sums, set_ranges, settle
from nightrook.archive.ledger.side_tables import write_limits, write_sources
from nightrook.archive.ledger.touched import Touched


def write(connection: sqlite3.Connection, batch: Batch, rates: Rates) -> int:
    """Write a batch inside of the caller's transaction; return how many calls are new."""
    names, touched = Names(connection), Touched(connection)
    sources = write_sources(connection, batch.sources.values())
    sessions = SessionTable(connection, names)
    if has_runs(connection):  # a session that gets another parent leaves the runs of the old one
        touched.add(sessions.known(batch.sessions))
        touched.add_trees()
    touched.add(sessions.write(batch.sessions))
    plain = PlainTable(names, rates, sessions.ids, sources)
    calls = _CallTable(connection, names, rates, plain)
    merged = calls.write(batch, sessions.ids, sources)
    touched.add(merged | plain.sessions)
    write_limits(connection, batch.limits)
    touched.add(write_runs(connection, batch.runs.values(), sessions))
    of_runs = conclude(connection, touched, rates, names)
    alone = (sessions.new & plain.sessions) - merged - of_runs
    plain.write_sums(connection, alone)
    touched.remove(alone)
    make_sums(connection)
    return calls.new


def conclude(
    connection: sqlite3.Connection, touched: Touched, rates: Rates, names: Names
) -> set[int]:
    """Compute what follows from the calls of touched sessions, but for their sums.

    Returns the ids of the sessions with calls of runs.
    """
    settle(connection, touched, rates, names)
    of_runs = share_runs(connection, touched, rates, names)
    set_ranges(connection)
    return of_runs


class _CallTable:
    """The table of calls: those of a batch are merged with those that are there."""

    def __init__(
        self, connection: sqlite3.Connection, names: Names, rates: Rates, plain: PlainTable
    ) -> None:
        self._connection = connection
        self._names = names
        self._rates = rates
        self._plain = plain
        self.new = 0
        """How many calls were not there before."""

    def write(
        self, batch: Batch, sessions: Mapping[SessionKey, int], sources: Mapping[str, int]
    ) -> set[int]:
        """Write the calls of a batch; return the ids of the sessions whose calls were merged."""
        stored = {row[0]: row for row in self._stored([call.key for call in batch.carried])}
        others = list(batch.carried)
        for agent, calls in batch.calls.items():
            keys = call_keys(agent, calls.merged)
            stored |= {row[0]: row for row in self._stored(keys)}
            others += self._merged(agent, zip(keys, calls.merged.items(), strict=True), stored)
            ids = [row[0] for group in calls.plain for row in group.rows]
            keys = call_keys(agent, ids)
            stored |= {row[0]: row for row in self._stored(keys)}
            others += self._unplain(agent, calls.plain, iter(keys), stored)
            self.new += len(calls.merged) + len(ids)
        self._plain.write(self._connection)
        self.new += len(batch.carried) - len(stored)
        return self._merge(others, stored, sessions, sources)

    def _merged(
        self,
        agent: str,
        calls: Iterable[tuple[int, tuple[CallId, MergedCall]]],
        stored: Collection[int],
    ) -> Iterator[KeyedCall]:
        """Add those of new calls that are plain after all to their table, and yield the others."""
        for key, (identity, call) in calls:
            line = None if key in stored else call.as_line()
            group = None if line is None else plain_calls(line, call.source)
            if group is None or any(self._plain.add(agent, group, ((group.rows[0], key),))):
                lineage = None if isinstance(identity, str) else lineage_key(agent, identity[0])
                yield KeyedCall(key, agent, lineage, call)

    def _unplain(
        self,
        agent: str,
        groups: Iterable[PlainCalls],
        keys: Iterator[int],
        stored: Collection[int],
    ) -> Iterator[KeyedCall]:
        """Add plain calls that are new and priced to their table, and yield the others."""
        for group in groups:
            keyed = list(zip(group.rows, keys, strict=False))
            new = [(row, key) for row, key in keyed if key not in stored] if stored else keyed
            known = [(row, key) for row, key in keyed if key in stored] if stored else []
            for row, key in chain(known, self._plain.add(agent, group, new)):
                yield KeyedCall(key, agent, None, group.merged(row))

    def _merge(
        self,
        calls: Iterable[KeyedCall],
        stored: Mapping[int, Row],
        sessions: Mapping[SessionKey, int],
        sources: Mapping[str, int],
    ) -> set[int]:
        touched: set[int] = set()
        rows: list[Row] = []
        names, cost = self._names, self._rates.cost
        for key, agent, lineage, call in calls:
            before = stored.get(key)
            if before is not None:
                call.merge(from_row(before, names))
            session = sessions.get((agent, call.own.session)) or _session(before)
            row = to_row(call, key, lineage, names, (session, sources.get(call.source, 0)))
            if before is None or row != normal(before):
                rows.append(row + cost(call.usage, call.at))
                touched.update((session,) if before is None else (session, before[1]))
        self._connection.executemany(INSERT, rows)
        return touched

    def _stored(self, keys: Sequence[int]) -> Iterator[Row]:
        """The rows of calls that are there already."""
        if self._connection.execute("SELECT 1 FROM calls LIMIT 1").fetchone() is None:
            return iter(())
        return find_rows(self._connection, keys)


def _session(before: Row | None) -> int:
    """The id of the session that a call had before."""
    assert before is not None, "a call of a batch has a session of the batch"
    kept: int = before[1]
    return kept
