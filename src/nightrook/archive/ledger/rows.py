"""Rows of the table of calls, to merged calls and back."""

import sqlite3
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from nightrook.adapter.history import Call
from nightrook.archive.ledger.merge import CallId, MergedCall, storable

Row = tuple[Any, ...]

COLUMNS = (
    *("key", "session_id", "source_id", "at", "own_at", "model", "project", "branch", "subagent"),
    *("input", "output", "cache_read", "cache_write_5m", "cache_write_1h"),
    *("reasoning", "web_searches", "native_nano"),
    *("timed", "copied", "fast", "summed", "fallback", "shared", "lineage"),
)
"""What comes from lines; the other columns are computed from these."""

# sqlite3 binds whole numbers, text and byte arrays at once, but searches for an adapter of None, a
# truth value or bytes: with these in a row, inserting it takes twice as long.
_UNKNOWN: dict[str, int | str] = {
    **dict.fromkeys(("own_at", "model", "project", "branch", "subagent"), 0),
    "lineage": "",
    "native_nano": -1,
}
"""What stands for NULL in the rows that are inserted."""

_NUL = "\0"
_NO_TIME = -1  # of the call's own line, where another one has a time

_VALUES = (f"nullif(?, {_UNKNOWN[name]!r})" if name in _UNKNOWN else "?" for name in COLUMNS)
INSERT = (
    f"INSERT OR REPLACE INTO calls ({', '.join(COLUMNS)}, estimated_nano, saved_nano) "
    f"VALUES ({', '.join(_VALUES)}, ?, ?)"
)

LINEAGE = COLUMNS.index("lineage")
_AT, _TIMED = COLUMNS.index("at"), COLUMNS.index("timed")
_COUNTS = COLUMNS[COLUMNS.index("input") : COLUMNS.index("native_nano")]
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
    """What a call and its copies in forks have in common."""
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
    columns[_AT] = _time(row)
    return tuple(columns)


def _time(row: Row) -> int | None:
    """The time that lines report."""
    at: int | None = row[_AT] if row[_TIMED] else None
    return at


def from_row(row: Row, names: Names) -> MergedCall:
    """The merged call of a stored row."""
    known: dict[str, Any] = dict(zip(COLUMNS, row, strict=False))
    session, path = row[-2:]
    at, own_at = _time(row), known["own_at"]
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
        **{name: known[name] for name in _COUNTS},
    )
    own_at = at if own_at is None else None if own_at == _NO_TIME else own_at
    flags = bool(known["fallback"]), bool(known["shared"])
    return MergedCall(usage, own, own_at, at, known["native_nano"], path or "", *flags)
