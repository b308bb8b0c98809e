"""One call from all the lines that report it, in whatever order they are read, and its row.

Merging is commutative, associative and idempotent: neither the order of imports nor reading a file
twice changes a report. A row has all that merging needs, so that lines which are read later are
merged with it.
"""

import sqlite3
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from nightrook.adapter.history import Call
from nightrook.model.price import credible, nano

LATEST_S = 1e11
"""A time after it is a mistake of its writer."""

TOKEN_BITS = 40
"""The bits of the greatest count; one above it is a mistake of its writer."""


_COUNTS = (
    *("output", "input", "cache_read", "cache_write_1h", "cache_write_5m"),
    *("web_searches", "reasoning"),
)

_OWN = ("session", "at", "project", "branch", "subagent", "copied", "fallback")
"""Fields taken from a call's own line."""

CallId = str | tuple[str, str]
"""A call's id; with its session if the id identifies the call only there."""

Rank = tuple[object, ...]


class MergedCall(msgspec.Struct, gc=False):
    """The lines of one call, merged."""

    usage: Call
    """The line with the greatest output: its tokens and model are the call's."""

    own: Call
    """The line that is not a copy: its session and project are the call's."""

    own_at: int | None
    """The time of that line."""

    at: int | None
    """The earliest time of all lines, in milliseconds; of sums that grow, that of the greatest."""

    native_nano: int | None
    """The greatest cost that a line reports."""

    source: str
    """The path of the file that has its own line."""

    fallback: bool
    """True if all its lines count only in a session without other calls."""

    shared: bool = False
    """True if its lines come from several files."""

    @classmethod
    def of(cls, line: Call, source: str) -> "MergedCall":
        """A call with one line."""
        line = _checked(line)  # guards: impossible-counts
        at = milliseconds(line.at)
        native = None if line.cost_usd is None else reported_nano(line)
        return cls(line, line, at, at, native, source, line.fallback)

    def add(self, line: Call, source: str) -> None:
        """Add another line, most often one of the same message in the same file."""
        self.merge(MergedCall.of(line, source))

    def merge(self, other: "MergedCall") -> None:
        """Add all lines of another one."""
        self.at = _time(self, other)
        if other.usage.output >= self.usage.output and _usage_rank(other) > _usage_rank(self):
            self.usage = other.usage
        if other.source != self.source or other.shared:
            self.shared = True
        if _own_rank(other) < _own_rank(self):
            self.own, self.own_at, self.source = other.own, other.own_at, other.source
        self.native_nano = greatest(self.native_nano, other.native_nano)
        self.fallback = self.fallback and other.fallback

    def as_line(self) -> Call | None:
        """One line of its source that reports the same; None if there may be none."""
        usage, own = self.usage, self.own
        if self.shared or self.at != self.own_at or self.native_nano is not None:
            return None
        if usage is not own:
            return replace(usage, **{name: getattr(own, name) for name in _OWN})
        return own


class KeyedCall(NamedTuple):
    """A call as the ledger identifies it."""

    key: int
    agent: str
    lineage: bytes | None
    """Key that it shares with its copies in forks."""

    call: MergedCall


def _time(one: MergedCall, other: MergedCall) -> int | None:
    if one.usage.summed and other.usage.summed:
        ranks = _usage_rank(one), _usage_rank(other)
        if ranks[0] != ranks[1]:
            return one.at if ranks[0] > ranks[1] else other.at
    return least(one.at, other.at)


def _usage_rank(call: MergedCall) -> Rank:
    line = call.usage
    return (
        line.output,
        line.input,
        line.cache_read,
        line.cache_write_1h,
        line.cache_write_5m,
        line.web_searches,
        line.reasoning,
        line.fast,
        line.summed,
        line.model or "",
    )


def _own_rank(call: MergedCall) -> Rank:
    line, at = call.own, call.own_at
    return (
        line.copied,
        at is None,
        at or 0,
        line.session,
        line.project or "",
        line.branch or "",
        line.subagent or "",
        call.source,
    )


def _checked(line: Call) -> Call:
    """The line with values that the ledger can hold: a count that no call can have becomes 0."""
    changes: dict[str, Any] = {n: 0 for n in _COUNTS if getattr(line, n) >> TOKEN_BITS}
    if not line.session.isascii():
        changes["session"] = storable(line.session)
    return replace(line, **changes) if changes else line


def reported_nano(line: Call) -> int | None:
    """Return the cost the agent reports; None if it reports none, or 0 for a call with tokens."""
    if line.cost_usd is None or credible(line.cost_usd) is None:
        return None
    if line.cost_usd == 0 and has_tokens(line):
        return None
    return nano(line.cost_usd)


def has_tokens(line: Call) -> bool:
    """True if a line reports any tokens."""
    return any(getattr(line, name) for name in _COUNTS)


def milliseconds(at: float | None) -> int | None:
    """A time in milliseconds; None for one that no call can have."""
    return round(at * 1000) if at is not None and 0 < at < LATEST_S else None


def least(one: int | None, other: int | None) -> int | None:
    """The lesser of two values, of which each may be unknown."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def greatest(one: int | None, other: int | None) -> int | None:
    """The greater of two values, of which each may be unknown."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def storable(text: str) -> str:
    """The text as SQLite can hold it: lone surrogates are replaced."""
    return text if text.isascii() else text.encode(errors="replace").decode()


Row = tuple[Any, ...]

COLUMNS = (
    *("key", "session_id", "source_id", "at", "own_at", "model", "project", "branch", "subagent"),
    *("input", "output", "cache_read", "cache_write_5m", "cache_write_1h"),
    *("reasoning", "web_searches", "native_nano"),
    *("timed", "copied", "fast", "summed", "fallback", "shared", "lineage"),
)
"""Columns read from lines; the other columns are computed from these."""

# sqlite3 binds whole numbers, text and byte arrays at once, but searches for an adapter of None, a
# truth value or bytes: with these in a row, inserting it takes twice as long.
_UNKNOWN: dict[str, int | str] = {
    **dict.fromkeys(("own_at", "model", "project", "branch", "subagent"), 0),
    "lineage": "",
    "native_nano": -1,
}
"""Values inserted instead of NULL."""

_NUL = "\0"
_NO_TIME = -1  # of the call's own line, where another one has a time

_VALUES = (f"nullif(?, {_UNKNOWN[name]!r})" if name in _UNKNOWN else "?" for name in COLUMNS)
INSERT = (
    f"INSERT OR REPLACE INTO calls ({', '.join(COLUMNS)}, estimated_nano, saved_nano) "
    f"VALUES ({', '.join(_VALUES)}, ?, ?)"
)

LINEAGE = COLUMNS.index("lineage")
_AT, _TIMED = COLUMNS.index("at"), COLUMNS.index("timed")
_COUNT_COLUMNS = COLUMNS[COLUMNS.index("input") : COLUMNS.index("native_nano")]
_MOST_PARAMETERS = 500  # in one query
_SELECT = (
    f"SELECT {', '.join('c.' + name for name in COLUMNS)}, s.session, f.path "
    "FROM calls c JOIN sessions s ON s.id = c.session_id "
    "LEFT JOIN sources f ON f.id = c.source_id "
)


def call_key(agent: str, identity: CallId) -> int:
    """The key of a call.

    Of ten million calls, two have the same 64 bits with a probability of 3 in a million.
    """
    return call_keys(agent, (identity,))[0]


def call_keys(agent: str, identities: Iterable[CallId]) -> Sequence[int]:
    """The keys of calls."""
    texts = (f"{agent}\0{id if isinstance(id, str) else _NUL.join(id)}" for id in identities)
    hashes = array("q", b"".join(map(_hash, texts)))
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes[::2]  # the first half of each


def lineage_key(agent: str, identity: str) -> bytes:
    """Return the key that a call shares with its copies in forks."""
    return _hash(f"{agent}\0lineage\0{identity}")


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Names:
    """The ids of models, projects, branches and subagents."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT text, id FROM names")
        self._ids: dict[str, int] = dict(rows.fetchall())
        self._texts = {number: text for text, number in self._ids.items()}
        self._tuples: dict[tuple[str | None, ...], tuple[int, ...]] = {}

    def ids(self, *texts: str | None) -> tuple[int, ...]:
        """The ids of several names, 0 for None; most calls have the same ones."""
        known = self._tuples.get(texts)
        if known is None:
            known = self._tuples[texts] = tuple(self.id(text) or 0 for text in texts)
        return known

    def id(self, text: str | None) -> int | None:
        """The id of a name, which is added if it is new."""
        if text is None:
            return None
        known = self._ids.get(text)
        return self._add(text) if known is None else known

    def text(self, number: int | None) -> str | None:
        """The name of an id."""
        return None if number is None else self._texts[number]

    def _add(self, text: str) -> int:
        clean = storable(text)
        self._connection.execute("INSERT OR IGNORE INTO names (text) VALUES (?)", (clean,))
        row = self._connection.execute("SELECT id FROM names WHERE text = ?", (clean,)).fetchone()
        number: int = row[0]
        self._ids[text] = self._ids[clean] = number
        self._texts[number] = clean
        return number


def in_parts(
    connection: sqlite3.Connection, query: str, values: Sequence[object], *before: object
) -> Iterator[Row]:
    """The rows of a query that ends with a column, where it has one of the values."""
    for start in range(0, len(values), _MOST_PARAMETERS):
        part = values[start : start + _MOST_PARAMETERS]
        marks = ", ".join("?" * len(part))
        yield from connection.execute(f"{query} IN ({marks})", (*before, *part))


def find_rows(connection: sqlite3.Connection, keys: Sequence[int]) -> Iterator[Row]:
    """The rows of those keys that the ledger has, each with its session and its path."""
    return in_parts(connection, f"{_SELECT} WHERE c.key", keys)


def all_rows(connection: sqlite3.Connection, where: str) -> Iterator[Row]:
    """The rows for which a condition holds, each with its session and the path."""
    return iter(connection.execute(f"{_SELECT} WHERE {where}"))


def to_row(
    call: MergedCall, key: int, lineage: bytes | None, names: Names, ids: tuple[int, int]
) -> Row:
    """The columns of a call; `ids` are those of its session and its source."""
    usage, own, at, own_at = call.usage, call.own, call.at, call.own_at
    return (
        key,
        *ids,
        at,
        0 if own_at == at else own_at or _NO_TIME,
        *names.ids(usage.model, own.project, own.branch, own.subagent),
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write_5m,
        usage.cache_write_1h,
        usage.reasoning,
        usage.web_searches,
        -1 if call.native_nano is None else call.native_nano,
        0 if at is None else 1,
        1 if own.copied else 0,
        1 if usage.fast else 0,
        1 if usage.summed else 0,
        1 if call.fallback else 0,
        1 if call.shared else 0,
        "" if lineage is None else lineage,
    )


def normal(row: Row) -> Row:
    """A stored row as `to_row` makes it: without an estimate of its time."""
    named = zip(COLUMNS, row, strict=False)
    columns = [_UNKNOWN.get(name) if value is None else value for name, value in named]
    columns[_AT] = _reported_time(row)
    return tuple(columns)


def _reported_time(row: Row) -> int | None:
    """The time that lines report."""
    at: int | None = row[_AT] if row[_TIMED] else None
    return at


def from_row(row: Row, names: Names) -> MergedCall:
    """The merged call of a stored row."""
    known: dict[str, Any] = dict(zip(COLUMNS, row, strict=False))
    session, path = row[-2:]
    at, own_at = _reported_time(row), known["own_at"]
    own = Call(
        id="",
        session=session,
        copied=bool(known["copied"]),
        project=names.text(known["project"]),
        branch=names.text(known["branch"]),
        subagent=names.text(known["subagent"]),
    )
    usage = Call(
        id="",
        session=session,
        model=names.text(known["model"]),
        fast=bool(known["fast"]),
        summed=bool(known["summed"]),
        **{name: known[name] for name in _COUNT_COLUMNS},
    )
    own_at = at if own_at is None else None if own_at == _NO_TIME else own_at
    flags = bool(known["fallback"]), bool(known["shared"])
    return MergedCall(usage, own, own_at, at, known["native_nano"], path or "", *flags)
