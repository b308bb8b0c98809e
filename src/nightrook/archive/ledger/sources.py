"""The files that were read, with the position reached in each: `Source`, and its table."""

import sqlite3
from collections.abc import Iterable
from typing import Literal

import msgspec

from nightrook.adapter.history import Kind

State = Literal["ok", "gone", "unreadable"]
"""State of a source when it was last read."""


class Source(msgspec.Struct, kw_only=True):
    """A file of an agent, and how far it was read."""

    agent: str
    path: str
    kind: Kind = "lines"
    id: int | None = None
    """Id in the ledger; None until it is stored there."""

    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    position: int = 0
    head_hash: bytes | None = None
    tail_hash: bytes | None = None
    memory: bytes | None = None
    """State of its reader at the position: JSON, or for lines JSON compressed by zlib."""

    state: State = "ok"
    rewritten: bool = False
    """True if bytes that were read have changed since."""

    problem: str | None = None


SOURCE_COLUMNS = (
    *("agent", "path", "kind", "inode", "size", "mtime_ns", "position", "head_hash", "tail_hash"),
    *("memory", "state", "rewritten", "problem"),
)
_UPSERT = (
    f"INSERT INTO sources ({', '.join(SOURCE_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(SOURCE_COLUMNS))}) ON CONFLICT (path) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in SOURCE_COLUMNS)
)


def write_sources(connection: sqlite3.Connection, sources: Iterable[Source]) -> dict[str, int]:
    """Write how far files were read; return the ids of all sources by their paths."""
    rows = (tuple(getattr(source, name) for name in SOURCE_COLUMNS) for source in sources)
    connection.executemany(_UPSERT, rows)
    return dict(connection.execute("SELECT path, id FROM sources").fetchall())


def read_sources(connection: sqlite3.Connection) -> dict[str, Source]:
    """Return all sources by their paths."""
    fields = ("id", *SOURCE_COLUMNS)
    rows = connection.execute(f"SELECT {', '.join(fields)} FROM sources")
    found = (Source(**dict(zip(fields, row, strict=True))) for row in rows)
    return {source.path: source for source in found}
