"""Calls that have only what most calls have: a time, a place, a model and tokens.

A first import reads tens of thousands of them. So they are kept in groups that have all but their
times and tokens in common, as they were read: names and prices are looked up once for a quarter of
an hour of a group, which is added up without reading its rows again.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import msgspec
from msgspec.structs import replace

from nightrook.adapter.history import Call, CallRow, Calls
from nightrook.archive.ledger.merge import (
    LATEST_S,
    TOKEN_BITS,
    CallId,
    MergedCall,
    storable,
)
from nightrook.archive.ledger.pricing import Rates, TokenPrice, token_cost
from nightrook.archive.ledger.rows import Names, Row
from nightrook.archive.ledger.sessions import SessionKey
from nightrook.archive.ledger.settle import QUARTER_MS

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


class PlainCalls:
    """Plain calls of one file that have a session, a model, a project and a branch in common."""

    def __init__(self, path: str, calls: Calls) -> None:
        self.path = path
        self.calls = calls
        """Each of them once."""
        self._by_id: dict[str, CallRow] = {}
        self._taken: set[str] = set()

    @property
    def rows(self) -> Sequence[CallRow]:
        """All but those that were taken out."""
        rows, taken = self.calls.rows, self._taken
        return [row for row in rows if row[0] not in taken] if taken else rows

    def row(self, id: str) -> CallRow:
        """What is a call's own."""
        unknown = islice(self.calls.rows, len(self._by_id), None)
        self._by_id.update((row[0], row) for row in unknown)
        return self._by_id[id]

    def take(self, id: str) -> MergedCall:
        """Take out a call that is to be merged with other lines."""
        self._taken.add(id)
        return self.merged(self.row(id))

    def repeats(self, other: "PlainCalls", row: CallRow) -> bool:
        """Whether a call of another group is one of this group again, and reports nothing new."""
        id, at, *tokens = row
        _, before, *same = self.row(id)
        return (
            at >= before
            and tokens == same
            and self.path == other.path
            and _about(self.calls) == _about(other.calls)
        )

    def merged(self, row: CallRow) -> MergedCall:
        """One of the calls as all others are."""
        return MergedCall.of(self.calls.call(row), self.path)


def _about(calls: Calls) -> tuple[str, str, str, str]:
    """What calls have in common."""
    return (calls.session, calls.model, calls.project, calls.branch)


class AgentCalls:
    """The calls of one agent in a batch: those that have only what most have, and all others."""

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
    """What is a call's own if that is all of it; None if it has more, less or impossible values."""
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
    """No calls yet, but what a plain one has in common with others."""
    return Calls(
        session=line.session,
        model=line.model or "",
        project=line.project or "",
        branch=line.branch or "",
    )


class Quarter(msgspec.Struct):
    """Plain calls of one model in a quarter of an hour of a session."""

    number: int
    ids: tuple[int, ...]
    """Those of the session, the model, the project and the branch."""

    price: TokenPrice | None
    values: list[int] = []
    """The columns of one call after those of the other."""


class PlainTable:
    """Writes plain calls that are new, and their sums."""

    def __init__(
        self,
        names: Names,
        rates: Rates,
        sessions: Mapping[SessionKey, int],
        sources: Mapping[str, int],
    ) -> None:
        self._names = names
        self._rates = rates
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
            price = TokenPrice.of(self._rates.price(model, number * QUARTER_MS))
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
