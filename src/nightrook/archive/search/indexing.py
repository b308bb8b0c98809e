"""Fills the index of words: new documents, newest first, in commits of a few seconds.

Indexing can be stopped at any time. A source is noted as indexed in the transaction that has its
documents; the rest is indexed the next time.
"""

import sqlite3
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nightrook.archive.search.documents import Document, documents
from nightrook.archive.search.index import (
    LONGEST_MS,
    SearchIndex,
    compress,
    in_milliseconds,
    packed,
)
from nightrook.archive.sessions.copies import check_copies_can_be_made, keep_copy
from nightrook.archive.sessions.reader import SessionSource, SourceReading, session_sources
from nightrook.config.settings import Keep
from nightrook.store.files import Folder

LOCK = "words.lock"
_FIRST_COMMIT_S = 0.5  # until something can be found
_COMMIT_S = 2.0  # between two commits: what is found grows that often
_MOST_TEXT = 16_000_000  # characters that wait to be written


class Progress(NamedTuple):
    """Progress of filling the index."""

    done: int
    """Bytes that were new and are indexed now."""

    total: int
    left: int
    """Number of files and stored sessions that are not indexed yet."""

    is_busy: bool = False
    """True if another process fills the index."""


def fill(
    words: SearchIndex, homes: Sequence[Path], *, keep: Keep = "text", waits: bool = False
) -> Generator[Progress, None, None]:
    """Index new documents; yields after every commit, the last time when none are left.

    Stop iterating at any time: what was committed is found, the rest is indexed the next time. If
    another process fills the index, it is left to that one, unless this one `waits` for it.
    """
    with (
        Folder.made(words.path.parent) as folder,
        folder.lock(LOCK, waits=waits) as is_ours,
    ):
        if not is_ours:
            yield Progress(0, 0, 0, is_busy=True)
            return
        yield from _Filling(words, keep).run(session_sources(homes))


def changed_sources(connection: sqlite3.Connection, homes: Sequence[Path]) -> list[SessionSource]:
    """Return the sources that are not indexed yet, newest first."""
    return _changed(connection, session_sources(homes))


def _changed(
    connection: sqlite3.Connection, sources: Sequence[SessionSource]
) -> list[SessionSource]:
    query = "SELECT path, session, stamp FROM sources"
    known = {(path, key): stamp for path, key, stamp in connection.execute(query)}
    return [source for source in sources if known.get(source.key) != source.stamp]


_LARGEST = 256_000  # characters of a block
_MOST = 256  # documents of a block
_MOST_WAITING = 16_000_000  # characters of documents whose words are not indexed yet
_START_MS = 1_577_836_800_000  # 2020
_MS_EACH = 15_000  # of time for a number: four a minute
_INSERT = """
INSERT INTO blocks (id, count, session_id, source_id, first_at, last_at, facts, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


class SourceRow(NamedTuple):
    """A file, or a session of a SQLite store, as the index has it."""

    id: int
    stamp: str
    size: int


class Writer:
    """Adds documents; `keeps_text` says whether excerpts outlive the agent's files."""

    def __init__(self, connection: sqlite3.Connection, *, keeps_text: bool) -> None:
        self._connection = connection
        self._keeps_text = keeps_text
        self._names: dict[str, int] = {}
        self._last_ms = _START_MS
        self._waiting: list[tuple[int, str]] = []
        self._waiting_size = 0

    def source(self, agent: str, path: str, session: str) -> SourceRow:
        """The row of a source, made if it is new."""
        query = "SELECT id, stamp, size FROM sources WHERE path = ? AND session = ?"
        row = self._connection.execute(query, (path, session)).fetchone()
        if row is not None:
            return SourceRow(*row)
        made = self._connection.execute(
            "INSERT INTO sources (agent, path, session, stamp, size) VALUES (?, ?, ?, '', 0)",
            (agent, path, session),
        )
        return SourceRow(made.lastrowid or 0, "", 0)

    def session(self, agent: str, session: str, project: str | None) -> int:
        """The number of a session, made if it is new."""
        query = (
            "INSERT INTO sessions (agent, session, project) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET project = coalesce(project, excluded.project) RETURNING id"
        )
        number: int = self._connection.execute(query, (agent, session, project)).fetchone()[0]
        return number

    def forget(self, source: SourceRow) -> None:
        """Hide the documents of a rewritten source from search."""
        query = "UPDATE blocks SET forgotten = 1, text = NULL WHERE source_id = ?"
        self._connection.execute(query, (source.id,))

    def note(self, source: SourceRow, stamp: str, size: int) -> None:
        """Record the position up to which a source was indexed."""
        query = "UPDATE sources SET stamp = ?, size = ? WHERE id = ?"
        self._connection.execute(query, (stamp, size, source.id))

    def add(self, documents: Sequence[Document], *, session: int, source: SourceRow) -> None:
        """Add documents of a source."""
        all_times = self._times(documents)
        for part in _blocks(documents, all_times):
            block, times = documents[part], all_times[part]
            first = self._free(max(1, (times[0] - _START_MS) // _MS_EACH), len(block))
            texts = [document.text for document in block]
            self._waiting += enumerate(texts, first)
            self._waiting_size += sum(map(len, texts))
            facts = packed(block, times, [self._name(document.tool) for document in block])
            text = compress("".join(texts)) if self._keeps_text else None
            row = (first, len(block), session, source.id, min(times), max(times), facts, text)
            self._connection.execute(_INSERT, row)
        if self._waiting_size > _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Index the words that wait, as must be done before every commit.

        SQLite collects words in memory as long as the numbers of documents grow; a smaller number
        makes it write a part of the index, and many parts cost the most time, as they are merged.
        """
        self._waiting.sort()
        query = "INSERT INTO words (rowid, text) VALUES (?, ?)"
        self._connection.executemany(query, self._waiting)
        self._waiting, self._waiting_size = [], 0

    def _times(self, documents: Sequence[Document]) -> list[int]:
        """The times of documents; one without a time has that of the one before it."""
        times = []
        for document in documents:
            if document.at is not None:
                self._last_ms = in_milliseconds(document.at)
            times.append(self._last_ms)
        return times

    def _free(self, wanted: int, count: int) -> int:
        """The first number, not before the wanted one, after which so many are free."""
        query = "SELECT id + count FROM blocks WHERE id <= ? ORDER BY id DESC LIMIT 1"
        before = self._connection.execute(query, (wanted,)).fetchone()
        first = max(wanted, before[0]) if before is not None else wanted
        query = "SELECT id, count FROM blocks WHERE id > ? ORDER BY id"
        for id, size in self._connection.execute(query, (wanted,)):
            if first + count <= id:
                break
            first = max(first, id + size)
        return first

    def _name(self, text: str | None) -> int:
        """The number of a tool's name; 0 stands for none."""
        if text is None:
            return 0
        if text not in self._names:
            query = (
                "INSERT INTO names (text) VALUES (?) "
                "ON CONFLICT DO UPDATE SET text = text RETURNING id"
            )
            self._names[text] = self._connection.execute(query, (text,)).fetchone()[0]
        return self._names[text]


def _blocks(documents: Sequence[Document], times: Sequence[int]) -> Iterator[slice]:
    """SessionBytes of a good size to compress and to read again, none with times too far apart."""
    first, size = 0, 0
    earliest = latest = times[0] if times else 0
    for end, (document, time_ms) in enumerate(zip(documents, times, strict=True)):
        earliest, latest = min(earliest, time_ms), max(latest, time_ms)
        is_full = end - first == _MOST or size >= _LARGEST
        if end > first and (is_full or latest - earliest > LONGEST_MS):
            yield slice(first, end)
            first, size, earliest, latest = end, 0, time_ms, time_ms
        size += len(document.text)
    if first < len(documents):
        yield slice(first, len(documents))


class _Filling:
    """One pass over the new documents."""

    def __init__(self, words: SearchIndex, keep: Keep) -> None:
        self._connection = words.connection
        self._copies_to = words.path.parent if keep == "raw" else None
        if keep == "raw":
            check_copies_can_be_made()
        self._writer = Writer(words.connection, keeps_text=keep != "counts")
        if keep == "counts":
            self._connection.execute("UPDATE blocks SET text = NULL WHERE text IS NOT NULL")

    def run(self, sources: Sequence[SessionSource]) -> Iterator[Progress]:
        """Index the sources that have changed."""
        changed = _changed(self._connection, sources)
        total, done = sum(source.size for source in changed), 0
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            due = time.monotonic() + _FIRST_COMMIT_S
            for number, source in enumerate(changed, 1):
                self._index(source)
                done += source.size
                if time.monotonic() > due and number < len(changed):
                    self._writer.flush()  # guards: words-before-commit
                    self._connection.execute("COMMIT")
                    yield Progress(done, total, len(changed) - number)
                    self._connection.execute("BEGIN IMMEDIATE")
                    due = time.monotonic() + _COMMIT_S
            self._writer.flush()
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        yield Progress(total, total, 0)

    def _index(self, source: SessionSource) -> None:
        """Index the new documents of one source."""
        row = self._writer.source(source.agent, *source.key)
        begin = row.size if _has_grown(row, source) else 0
        if not begin and row.stamp:
            self._writer.forget(row)
        reading = SourceReading(source)
        waiting: list[Document] = []
        size, last = 0, -1
        for records in reading.records():
            for document in documents(records):
                last = document.offset
                if last >= begin:
                    waiting.append(document)
                    size += len(document.text)
            if size > _MOST_TEXT:
                self._write(waiting, reading, row)
                waiting, size = [], 0
        self._write(waiting, reading, row)
        if self._copies_to is not None:
            keep_copy(self._copies_to, source)
        if reading.size is not None:  # otherwise the next search tries again
            whole = reading.size if last >= reading.ended else reading.ended
            self._writer.note(row, source.stamp, whole)

    def _write(self, waiting: Sequence[Document], reading: SourceReading, row: SourceRow) -> None:
        if waiting:
            number = self._writer.session(reading.agent, reading.session, reading.project)
            self._writer.add(waiting, session=number, source=row)


def _has_grown(row: SourceRow, source: SessionSource) -> bool:
    """True if a file has only grown since it was indexed, judged by its inode and size."""
    return (
        source.kind == "lines"
        and row.stamp.split(" ")[0] == source.stamp.split(" ")[0]
        and source.size >= row.size > 0
    )
