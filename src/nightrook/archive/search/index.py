"""The index of words on disk: its database, the tables, and how documents are packed in blocks.

The index may be deleted at any time: it is made again, as it is when it is damaged. A document is
a text that can be found (`documents.py`). It has no row of its own:

    words   full-text index   number of a document ──┐
    blocks  one row for many documents               ▼
            id = number of the first one, count, session, source, times, facts, text

The documents of a block are numbered one after another, beginning with the number of the block.
Numbers grow with time and are close together, which keeps the lists of the full-text index small,
and a period is a range of numbers. `facts` has a record of fixed size for each document.

The full-text index keeps no text (`content=''`): what was indexed is in `blocks`, compressed, so
that an excerpt can be shown when the agent has deleted its file. Identifiers such as `run_all` are
phrases, for which the index needs the places of words (the default, `detail=full`).
"""

import os
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Self

from nightrook.archive.search.documents import KINDS, Document
from nightrook.model.events import Status
from nightrook.store.files import Folder

FILE = "words.db"
"""The name of the database in the home of nightrook."""

_OPENING = "words-opening.lock"
_PATIENCE_S = 30.0
_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -32768",
)
_REBUILT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""Reasons of errors after which the index is deleted: it is damaged, or not an index."""

FORMAT = 2
"""An index of another format is deleted and made again."""

TABLES = """
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  session TEXT NOT NULL,                  -- in a SQLite store; otherwise empty
  stamp TEXT NOT NULL,                    -- changes when the file does
  size INTEGER NOT NULL,                  -- how far it was indexed
  UNIQUE (path, session)
) STRICT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  session TEXT NOT NULL,
  project TEXT,
  UNIQUE (agent, session)
) STRICT;

CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- Some documents of a source, one after another.
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY,                 -- the number of the first document: it grows with time
  count INTEGER NOT NULL,                 -- how many documents
  session_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  first_at INTEGER NOT NULL,              -- the times of its documents are between these two:
  last_at INTEGER NOT NULL,               -- milliseconds since 1970
  forgotten INTEGER NOT NULL DEFAULT 0,   -- whether its source was rewritten
  facts BLOB NOT NULL,                    -- of each document, as `packed` returns them
  text BLOB                               -- all texts, compressed; NULL if they are not kept
) STRICT;
CREATE INDEX blocks_of_sources ON blocks (source_id);

CREATE VIRTUAL TABLE words USING fts5(
  text, content='', columnsize=0, tokenize='unicode61'
);
-- More words wait in memory (in bytes), and more parts are merged at once, than usual: otherwise
-- much of the time goes into merging.
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
INSERT INTO words (words, rank) VALUES ('automerge', 16);
"""


def is_damage(error: sqlite3.Error) -> bool:
    """True if an error means that the index is damaged and must be rebuilt."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _REBUILT


class SearchIndex:
    """The index of words."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the index, made for its owner alone; one that is damaged or foreign is replaced."""
        with _alone(path) as folder:
            try:
                return cls._open(path, folder)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
            _remove(path)
            return cls._open(path, folder)

    @classmethod
    def _open(cls, path: Path, folder: Folder) -> Self:
        if not path.exists():
            _remove(path)  # the log of a database that was deleted belongs to no other
        os.close(folder.append(path.name))
        connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return cls(connection, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def remove(path: Path) -> None:
    """Delete the index; it is made again when it is needed."""
    with _alone(path):
        _remove(path)


@contextmanager
def _alone(path: Path) -> Iterator[Folder]:
    """Lock the index for making or deleting it: its log must not go to another one."""
    # guards: one-indexer
    with Folder.made(path.parent) as folder, folder.lock(_OPENING, waits=True):
        yield folder


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").unlink()


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new index; an index of another format counts as damaged."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found == 0:
            for statement in filter(str.strip, TABLES.split(";\n")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    if found not in (0, FORMAT):
        connection.execute("SELECT 1 FROM an_index_of_another_format")


STATUSES: tuple[Status | None, ...] = (
    *(None, "ok", "error", "denied", "cancelled"),
    *("timed_out", "orphaned"),
)
"""Status of each call; facts store its place in this order."""

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
    """Start of its text in the block's, in characters."""

    size: int


_FACTS = struct.Struct("<BHBIBIIH")
"""Facts of a document: kind, tool, status, time in its block, offset in two parts, start, size.

All have the same size, so that those of one document are read without those of the others.
"""

_LOW = 2**32
LONGEST_MS = _LOW - 1
"""Longest time between two documents of a block: about seven weeks."""

_MOST_TOOL, _MOST_SIZE = 2**16 - 1, 2**16 - 1


def packed(documents: Sequence[Document], times_ms: Sequence[int], tools: Sequence[int]) -> bytes:
    """Pack the facts of some documents."""
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
    """Number of its documents."""

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
        """Return the facts of a document."""
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
        # guards: excerpt-redacted
        return self._redact(whole[document.start : document.start + document.size])

    def _read_text(self, block: int) -> str | None:
        query = "SELECT text FROM blocks WHERE id = ?"
        row = self._connection.execute(query, (block,)).fetchone()
        return None if row is None or row[0] is None else decompress(row[0])


def in_milliseconds(seconds: float) -> int:
    """A time as blocks have it."""
    return int(seconds * _MS)


_ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""First bytes of data compressed by zstandard."""

_LEVEL = 3
_LARGEST = 1 << 30  # of one text: more is damage


def compress(text: str) -> bytes:
    """Compress a text."""
    return _compressor()(text.encode("utf-8", "replace"))


@cache
def _compressor() -> Callable[[bytes], bytes]:
    if find_spec("zstandard") is None:  # it is in the extra `archive`
        return zlib.compress
    import zstandard

    return zstandard.ZstdCompressor(level=_LEVEL).compress


def decompress(data: bytes) -> str:
    """Return a text that was compressed; empty if it is damaged, or zstandard is missing."""
    try:
        return _decompressed(data).decode("utf-8", "replace")
    except Exception:  # an excerpt is not worth an error, whatever the library raises
        return ""


def _decompressed(data: bytes) -> bytes:
    if not data.startswith(_ZSTANDARD):
        return zlib.decompress(data)
    import zstandard

    return zstandard.ZstdDecompressor().decompress(data, max_output_size=_LARGEST)
