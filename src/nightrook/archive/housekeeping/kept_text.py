"""Forgets the oldest of the texts that are kept for excerpts; their words are still found."""

import sqlite3
from typing import NamedTuple

_MS = 1000


class TextBlock(NamedTuple):
    """Texts that are compressed together."""

    id: int
    size: int
    at: float
    """When the last of them was written, in seconds since 1970; 0 if none is found any more."""


def blocks(connection: sqlite3.Connection) -> list[TextBlock]:
    """All blocks of kept texts, the newest first."""
    rows = connection.execute(
        "SELECT id, length(text), iif(forgotten, 0, last_at) FROM blocks WHERE text IS NOT NULL"
    )
    found = [TextBlock(id, size, at_ms / _MS) for id, size, at_ms in rows]
    return sorted(found, key=lambda block: -block.at)


def forget(connection: sqlite3.Connection, chosen: list[TextBlock]) -> None:
    """Forget texts in one step, then return their space to the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        ids = ((block.id,) for block in chosen)
        connection.executemany("UPDATE blocks SET text = NULL WHERE id = ?", ids)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
