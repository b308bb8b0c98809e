"""Blocks of documents: what is known of each, packed, and their texts."""

import sqlite3
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from nightrook.archive.words.compression import decompress
from nightrook.archive.words.documents import KINDS, Document
from nightrook.model.events import Status

STATUSES: tuple[Status | None, ...] = (
    *(None, "ok", "error", "denied", "cancelled"),
    *("timed_out", "orphaned"),
)
"""How calls ended; facts have their places in this order."""

_MS = 1000
_CACHED = 64  # texts of blocks that stay decompressed


class Placed(NamedTuple):
    """A document of a block."""

    kind: int
    tool: int
    """The number of its name; 0 if it has none."""

    status: int
    at_ms: int
    offset: int
    start: int
    """Where its text begins in the block's, in characters."""

    size: int


_FACTS = struct.Struct("<BHBIBIIH")
"""Of a document: kind, tool, status, time after the block's, offset in two parts, start, size.

All have the same size, so that those of one document are read without those of the others.
"""

_LOW = 2**32
LONGEST_MS = _LOW - 1
"""How far apart the times of a block's documents may be: about seven weeks."""

_MOST_TOOL, _MOST_SIZE = 2**16 - 1, 2**16 - 1


def packed(documents: Sequence[Document], times_ms: Sequence[int], tools: Sequence[int]) -> bytes:
    """What is known of some documents."""
    facts = bytearray()
    start, first_ms = 0, min(times_ms)
    for document, time_ms, tool in zip(documents, times_ms, tools, strict=True):
        high, low = divmod(document.offset, _LOW)
        facts += _FACTS.pack(
            KINDS.index(document.kind),
            min(tool, _MOST_TOOL),
            STATUSES.index(document.status),
            time_ms - first_ms,
            min(high, 255),
            low,
            start,
            min(len(document.text), _MOST_SIZE),
        )
        start += len(document.text)
    return bytes(facts)


class Block(NamedTuple):
    """A row of the table of blocks, without its texts."""

    id: int
    size: int
    """How many documents it has."""

    session: int
    source: int
    forgotten: int
    first_ms: int
    facts: bytes

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.id <= number < self.id + self.size


_ROW = (
    "SELECT id, count, session_id, source_id, forgotten, first_at, facts FROM blocks "
    "WHERE id <= ? ORDER BY id DESC LIMIT 1"
)
_NOWHERE = Block(0, 0, 0, 0, 1, 0, b"")


class Blocks:
    """Finds the blocks of documents; made for numbers that come in order."""

    def __init__(self, connection: sqlite3.Connection, redact: Callable[[str], str]) -> None:
        self._connection = connection
        self._redact = redact
        self._last = _NOWHERE
        self._text = lru_cache(maxsize=_CACHED)(self._read_text)

    def of(self, number: int) -> Block:
        """The block of a document."""
        if number not in self._last:
            row = self._connection.execute(_ROW, (number,)).fetchone()
            found = Block(*row) if row is not None else _NOWHERE
            self._last = found if number in found else _NOWHERE
        return self._last

    def placed(self, number: int, block: Block) -> Placed:
        """What is known of a document."""
        place = (number - block.id) * _FACTS.size
        kind, tool, status, after_ms, high, low, start, size = _FACTS.unpack_from(
            block.facts, place
        )
        at_ms = block.first_ms + after_ms
        return Placed(kind, tool, status, at_ms, high * _LOW + low, start, size)

    def text(self, block: Block, document: Placed) -> str | None:
        """The text of a document without its secrets; None if it is not kept."""
        whole = self._text(block.id)
        if whole is None:
            return None
        return self._redact(whole[document.start : document.start + document.size])

    def _read_text(self, block: int) -> str | None:
        query = "SELECT text FROM blocks WHERE id = ?"
        row = self._connection.execute(query, (block,)).fetchone()
        return None if row is None or row[0] is None else decompress(row[0])


def in_milliseconds(seconds: float) -> int:
    """A time as blocks have it."""
    return int(seconds * _MS)
