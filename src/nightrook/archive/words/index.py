"""Fills the index of words: what is new, newest first, in commits of a few seconds."""

import sqlite3
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nightrook.archive.sessions.raw_copies import check_copies_can_be_made, keep_copy
from nightrook.archive.sessions.sources import SessionSource, SourceReading, session_sources
from nightrook.archive.words.database import Words
from nightrook.archive.words.documents import Document, documents
from nightrook.archive.words.writer import SourceRow, Writer
from nightrook.config.user_options import Keep
from nightrook.store.files import Folder

LOCK = "words.lock"
_FIRST_COMMIT_S = 0.5  # until something can be found
_COMMIT_S = 2.0  # between two commits: what is found grows that often
_MOST_TEXT = 16_000_000  # characters that wait to be written


class Progress(NamedTuple):
    """How far the index is filled."""

    done: int
    """Bytes of what was new and is indexed now."""

    total: int
    left: int
    """How many files and stored sessions are not indexed yet."""

    is_busy: bool = False
    """Whether another process fills the index."""


def fill(
    words: Words, homes: Sequence[Path], *, keep: Keep = "text", waits: bool = False
) -> Generator[Progress, None, None]:
    """Index what is new; yields after every commit, the last time when nothing is left.

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
    """What is not indexed yet, newest first."""
    return _changed(connection, session_sources(homes))


def _changed(
    connection: sqlite3.Connection, sources: Sequence[SessionSource]
) -> list[SessionSource]:
    query = "SELECT path, session, stamp FROM sources"
    known = {(path, key): stamp for path, key, stamp in connection.execute(query)}
    return [source for source in sources if known.get(source.key) != source.stamp]


class _Filling:
    """One pass over what is new."""

    def __init__(self, words: Words, keep: Keep) -> None:
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
                    self._writer.flush()
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
        """Index what is new in one source."""
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
    """Whether a file has only grown since it was indexed, as far as its inode and size tell."""
    return (
        source.kind == "lines"
        and row.stamp.split(" ")[0] == source.stamp.split(" ")[0]
        and source.size >= row.size > 0
    )
