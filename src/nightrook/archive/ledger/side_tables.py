"""Writes the sources and the limits of a batch."""

import sqlite3
from collections.abc import Iterable, Mapping

from nightrook.adapter.history import Limit
from nightrook.archive.ledger.merge import milliseconds
from nightrook.archive.ledger.records import Source

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
    """All sources by their paths."""
    fields = ("id", *SOURCE_COLUMNS)
    rows = connection.execute(f"SELECT {', '.join(fields)} FROM sources")
    found = (Source(**dict(zip(fields, row, strict=True))) for row in rows)
    return {source.path: source for source in found}


def write_limits(
    connection: sqlite3.Connection, limits: Mapping[tuple[str, str, str], Limit]
) -> None:
    """Write the limits that are later than the known ones."""
    for (agent, window, plan), limit in limits.items():
        at = milliseconds(limit.at)
        if at is None:
            continue
        row = (agent, window, plan, at, limit.used, milliseconds(limit.resets_at))
        connection.execute(
            "INSERT INTO limits VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "at = excluded.at, used = excluded.used, resets_at = excluded.resets_at WHERE "
            "(excluded.at, coalesce(excluded.used, 0), coalesce(excluded.resets_at, 0)) > "
            "(at, coalesce(used, 0), coalesce(resets_at, 0))",
            row,
        )


def read_limits(connection: sqlite3.Connection) -> dict[tuple[str, str, str], Limit]:
    """All limits, by agent, window and plan."""
    query = "SELECT agent, window, plan, at, used, resets_at FROM limits"
    return {
        (agent, window, plan): Limit(
            window=window,
            plan=plan or None,
            at=at / 1000,
            used=used,
            resets_at=None if resets_at is None else resets_at / 1000,
        )
        for agent, window, plan, at, used, resets_at in connection.execute(query)
    }
