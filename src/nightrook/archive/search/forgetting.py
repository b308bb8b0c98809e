"""Deletes texts kept for search, those of old messages first: their words are still found."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

_MS = 1000


class TextBlock(NamedTuple):
    """Texts that are compressed together."""

    id: int
    size: int
    at: float
    """Time of the last write to one of them, in seconds since 1970; 0 if none is found any more."""


def kept_texts(connection: sqlite3.Connection) -> list[TextBlock]:
    """All blocks of kept texts, the newest first."""
    rows = connection.execute(
        "SELECT id, length(text), iif(forgotten, 0, last_at) FROM blocks WHERE text IS NOT NULL"
    )
    found = [TextBlock(id, size, at_ms / _MS) for id, size, at_ms in rows]
    return sorted(found, key=lambda block: -block.at)


def forget_texts(connection: sqlite3.Connection, chosen: list[TextBlock]) -> None:
    """Delete texts in one step, then return their space to the disk."""
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


class _Aged(Protocol):
    """A block or copy of a size, from a time in seconds since 1970; 0 if it is of no use."""

    @property
    def size(self) -> int: ...

    @property
    def at(self) -> float: ...


_Item = TypeVar("_Item", bound=_Aged)


def to_forget(found: Iterable[_Item], *, before: float | None, most: int | None) -> list[_Item]:
    """Choose the texts or copies from before a time, and the oldest until the rest fits a size.

    Those of no use always go. In what was found, the newest come first.
    """
    chosen, total = [], 0
    for each in found:
        total += each.size
        is_old = before is not None and each.at < before
        if is_old or not each.at or (most is not None and total > most):
            chosen.append(each)
    return chosen
