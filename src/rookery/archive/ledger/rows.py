"""Rows of the table of calls, to merged calls and back."""

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from rookery.adapter.history import Call
from rookery.archive.ledger.merge import CallId, MergedCall, storable

Row = tuple[Any, ...]

COLUMNS = (
    *("key", "session_id", "source_id", "at", "timed", "own_at", "copied"),
    *("model", "project", "branch", "subagent"),
    *("input", "output", "cache_read", "cache_write_5m", "cache_write_1h"),
    *(
        "reasoning",
        "web_searches",
        "fast",
        "summed",
        "fallback",
        "lineage",
        "shared",
        "native_nano",
    ),
)
"""What comes from lines; the other columns are computed from these."""

# sqlite3 binds whole numbers, text and byte arrays at once, but searches for an adapter of None, a
# truth value or bytes: with these in a row, inserting it takes twice as long.
_UNKNOWN: dict[str, int | str] = {
    **dict.fromkeys(("model", "project", "branch", "subagent"), 0),
    "lineage": "",
    "native_nano": -1,
}
"""What stands for NULL in the rows that are inserted."""

_VALUES = (f"nullif(?, {_UNKNOWN[name]!r})" if name in _UNKNOWN else "?" for name in COLUMNS)
INSERT = (
    f"INSERT OR REPLACE INTO calls ({', '.join(COLUMNS)}, estimated_nano, saved_nano) "
    f"VALUES ({', '.join(_VALUES)}, ?, ?)"
)

_MOST_PARAMETERS = 500  # in one query
_SELECT = (
    f"SELECT {', '.join('c.' + name for name in COLUMNS)}, s.session, f.path "
    "FROM calls c JOIN sessions s ON s.id = c.session_id "
    "LEFT JOIN sources f ON f.id = c.source_id "
)


def call_key(agent: str, identity: CallId) -> bytes:
    """The key of a call."""
    parts = (agent, identity) if isinstance(identity, str) else (agent, *identity)
    return _hash("\0".join(parts))


def lineage_key(agent: str, identity: str) -> bytes:
    """What a call and its copies in forks have in common."""
    return _hash(f"{agent}\0lineage\0{identity}")


def _hash(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


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


def find_rows(connection: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[Row]:
    """The rows of those keys that the ledger has, each with its session and its path."""
    return in_parts(connection, f"{_SELECT} WHERE c.key", keys)


def all_rows(connection: sqlite3.Connection, where: str) -> Iterator[Row]:
    """The rows for which a condition holds, each with its session and the path."""
    return iter(connection.execute(f"{_SELECT} WHERE {where}"))


def to_row(
    call: MergedCall, key: bytes, lineage: bytes | None, names: Names, ids: tuple[int, int]
) -> Row:
    """The columns of a call; `ids` are those of its session and its source."""
    usage, own, at = call.usage, call.own, call.at
    return (
        bytearray(key),
        *ids,
        at,
        +(at is not None),
        call.own_at,
        +own.copied,
        *names.ids(usage.model, own.project, own.branch, own.subagent),
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write_5m,
        usage.cache_write_1h,
        usage.reasoning,
        usage.web_searches,
        +usage.fast,
        +usage.summed,
        +call.fallback,
        "" if lineage is None else lineage,
        +call.shared,
        -1 if call.native_nano is None else call.native_nano,
    )


def normal(row: Row) -> Row:
    """A stored row as `to_row` makes it: without an estimate of its time."""
    named = zip(COLUMNS, row, strict=False)
    columns = [_UNKNOWN.get(name) if value is None else value for name, value in named]
    columns[3] = row[3] if row[4] else None
    return tuple(columns)


def from_row(row: Row, names: Names) -> MergedCall:
    """The merged call of a stored row."""
    session, path = row[-2:]
    at = row[3] if row[4] else None
    own = Call(
        id="",
        session=session,
        copied=bool(row[6]),
        project=names.text(row[8]),
        branch=names.text(row[9]),
        subagent=names.text(row[10]),
    )
    usage = Call(
        id="",
        session=session,
        model=names.text(row[7]),
        input=row[11],
        output=row[12],
        cache_read=row[13],
        cache_write_5m=row[14],
        cache_write_1h=row[15],
        reasoning=row[16],
        web_searches=row[17],
        fast=bool(row[18]),
        summed=bool(row[19]),
    )
    fallback, shared = bool(row[20]), bool(row[22])
    return MergedCall(usage, own, row[5], at, row[23], path or "", fallback, shared)
