"""Writes a batch: sources, sessions, calls and runs, then the sums computed from them.

Plain calls that are new are inserted as they were read. Their names and prices are looked up once
for a quarter of an hour of a group, which is added up without reading its rows again.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from nightrook.adapter.history import CallRow
from nightrook.archive.ledger.batch import Batch, PlainCalls, plain_calls
from nightrook.archive.ledger.calls import (
    INSERT,
    CallId,
    KeyedCall,
    MergedCall,
    Names,
    Row,
    call_keys,
    find_rows,
    from_row,
    lineage_key,
    normal,
    to_row,
)
from nightrook.archive.ledger.counting import QUARTER_MS, Touched, make_sums, set_ranges, settle
from nightrook.archive.ledger.limits import write_limits
from nightrook.archive.ledger.pricing import KeptPrices, TokenPrice, token_cost
from nightrook.archive.ledger.runs import has_runs, share_runs, write_runs
from nightrook.archive.ledger.sessions import SessionKey, SessionTable
from nightrook.archive.ledger.sources import write_sources


def write(connection: sqlite3.Connection, batch: Batch, prices: KeptPrices) -> int:
    """Write a batch inside of the caller's transaction; return how many calls are new."""
    names, touched = Names(connection), Touched(connection)
    sources = write_sources(connection, batch.sources.values())
    sessions = SessionTable(connection, names)
    if has_runs(connection):  # a session that gets another parent leaves the runs of the old one
        touched.add(sessions.known(batch.sessions))
        touched.add_trees()
    touched.add(sessions.write(batch.sessions))
    plain = PlainTable(names, prices, sessions.ids, sources)
    calls = _CallTable(connection, names, prices, plain)
    merged = calls.write(batch, sessions.ids, sources)
    touched.add(merged | plain.sessions)
    write_limits(connection, batch.limits)
    touched.add(write_runs(connection, batch.runs.values(), sessions))
    of_runs = conclude(connection, touched, prices, names)
    alone = (sessions.new & plain.sessions) - merged - of_runs  # guards: mixed-sums
    plain.write_sums(connection, alone)
    touched.remove(alone)
    make_sums(connection)
    return calls.new


def conclude(
    connection: sqlite3.Connection, touched: Touched, prices: KeptPrices, names: Names
) -> set[int]:
    """Compute what follows from the calls of touched sessions, but for their sums.

    Returns the ids of the sessions with calls of runs.
    """
    settle(connection, touched, prices, names)
    of_runs = share_runs(connection, touched, prices, names)
    set_ranges(connection)
    return of_runs


_COLUMNS = (
    *("key", "session_id", "model", "project", "branch", "source_id", "at"),
    *("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "reasoning"),
    *("estimated_nano", "saved_nano"),
)
_WIDTH = len(_COLUMNS)
_FIRST_COUNT = _COLUMNS.index("input")
_ROW = f"({', '.join('?' * _WIDTH)})"
_ROWS = 32  # that one statement inserts: it takes four fifths of the time of one for each row
_INSERT_SUM = """
INSERT INTO sums (quarter, session_id, model, project, branch, calls, input, output, cache_read,
  cache_write, native_nano, estimated_nano, unpriced_tokens, saved_nano)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?)
"""


class Quarter(msgspec.Struct):
    """Plain calls of one model in a quarter of an hour of a session."""

    number: int
    ids: tuple[int, ...]
    """Ids of the session, the model, the project and the branch."""

    price: TokenPrice | None
    values: list[int] = []
    """The columns of one call after those of the other."""


class PlainTable:
    """Writes plain calls that are new, and their sums."""

    def __init__(
        self,
        names: Names,
        prices: KeptPrices,
        sessions: Mapping[SessionKey, int],
        sources: Mapping[str, int],
    ) -> None:
        self._names = names
        self._prices = prices
        self._sessions = sessions
        self._sources = sources
        self._quarters: dict[tuple[int, ...], Quarter] = {}

    @property
    def sessions(self) -> set[int]:
        """The ids of the sessions of all calls that were added."""
        return {quarter.ids[0] for quarter in self._quarters.values() if quarter.values}

    def add(
        self, agent: str, group: PlainCalls, keyed: Iterable[tuple[CallRow, int]]
    ) -> Iterator[tuple[CallRow, int]]:
        """Add calls of a group, each with its key; yield those without a price for all tokens."""
        calls = group.calls
        model_name = calls.model
        names = self._names.ids(model_name, calls.project, calls.branch)
        session, source = self._sessions[agent, calls.session], self._sources[group.path]
        model, project, branch = names
        number, price, values = -1, None, []
        for row, key in keyed:
            _, seconds, input, output, read, short, long, reasoning = row
            at = round(seconds * 1000)
            if at // QUARTER_MS != number:
                number = at // QUARTER_MS
                quarter = self._quarter(number, (session, *names), model_name)
                price, values = quarter.price, quarter.values
            if price is None:
                yield row, key
                continue
            cost, saved = token_cost(price, input, output, read, short, long)
            values += (
                key, session, model, project, branch, source, at,
                input, output, read, short, long, reasoning, cost, saved,
            )  # fmt: skip

    def _quarter(self, number: int, ids: tuple[int, ...], model: str) -> Quarter:
        known = self._quarters.get((number, *ids))
        if known is None:
            price = TokenPrice.of(self._prices.price(model, number * QUARTER_MS))
            known = self._quarters[number, *ids] = Quarter(number, ids, price)
        return known

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the calls."""
        values = list(chain.from_iterable(group.values for group in self._quarters.values()))
        size = _ROWS * _WIDTH
        whole = len(values) // size * size
        many = (values[start : start + size] for start in range(0, whole, size))
        connection.executemany(_insert(_ROWS), many)
        if whole < len(values):
            rest = values[whole:]
            connection.execute(_insert(len(rest) // _WIDTH), rest)

    def write_sums(self, connection: sqlite3.Connection, sessions: set[int]) -> None:
        """Write the sums of sessions that have no other calls."""
        quarters = self._quarters.values()
        alone = (quarter for quarter in quarters if quarter.values and quarter.ids[0] in sessions)
        connection.executemany(_INSERT_SUM, map(_sum, alone))


def _insert(rows: int) -> str:
    """The statement that inserts so many rows."""
    return f"INSERT INTO calls ({', '.join(_COLUMNS)}) VALUES {', '.join([_ROW] * rows)}"


def _sum(quarter: Quarter) -> Row:
    """The row of the sums of calls."""
    values = quarter.values
    columns = (values[place::_WIDTH] for place in range(_FIRST_COUNT, _WIDTH))
    input, output, read, short, long, _, cost, saved = map(sum, columns)
    calls = len(values) // _WIDTH
    return (
        quarter.number, *quarter.ids, calls, input, output, read, short + long, cost, saved,
    )  # fmt: skip


class _CallTable:
    """The table of calls: those of a batch are merged with those that are there."""

    def __init__(
        self, connection: sqlite3.Connection, names: Names, prices: KeptPrices, plain: PlainTable
    ) -> None:
        self._connection = connection
        self._names = names
        self._prices = prices
        self._plain = plain
        self.new = 0
        """Number of calls that were not there before."""

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
        names, cost = self._names, self._prices.cost
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
