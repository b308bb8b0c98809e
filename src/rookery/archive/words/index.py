"""Fills the index of words: what is new, newest first, in commits of a few seconds."""

import fcntl
import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rookery import agents
from rookery.archive.sessions.find import SessionFile, StoredSession
from rookery.archive.sessions.parts import Part, Parts
from rookery.archive.words.database import Words
from rookery.archive.words.documents import Document, documents
from rookery.archive.words.sources import WordSource, word_sources
from rookery.archive.words.writer import SourceRow, Writer
from rookery.model.events import SessionStarted
from rookery.model.records import Record
from rookery.store.files import Folder

LOCK = "words.lock"
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
    words: Words, homes: Sequence[Path], *, keeps_text: bool = True
) -> Generator[Progress, None, None]:
    """Index what is new; yields after every commit, the last time when nothing is left.

    Stop iterating at any time: what was committed is found, the rest is indexed the next time.
    """
    with _locked(words.path.parent) as is_ours:
        if not is_ours:
            yield Progress(0, 0, 0, is_busy=True)
            return
        yield from _Filling(words, keeps_text=keeps_text).run(word_sources(homes))


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Be the only process that fills the index, if no other does."""
    with Folder.made(folder) as opened:
        fd = opened.append(LOCK)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(fd)


class _Filling:
    """One pass over what is new."""

    def __init__(self, words: Words, *, keeps_text: bool) -> None:
        self._connection = words.connection
        self._writer = Writer(words.connection, keeps_text=keeps_text)

    def run(self, sources: Sequence[WordSource]) -> Iterator[Progress]:
        """Index the sources that have changed."""
        query = "SELECT path, session, stamp FROM sources"
        known = {(path, key): stamp for path, key, stamp in self._connection.execute(query)}
        changed = [source for source in sources if known.get(source.key) != source.stamp]
        total, done = sum(source.size for source in changed), 0
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            due = time.monotonic() + _COMMIT_S
            for number, source in enumerate(changed, 1):
                self._index(source)
                done += source.size
                if time.monotonic() > due and number < len(changed):
                    self._connection.execute("COMMIT")
                    yield Progress(done, total, len(changed) - number)
                    self._connection.execute("BEGIN IMMEDIATE")
                    due = time.monotonic() + _COMMIT_S
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        yield Progress(total, total, 0)

    def _index(self, source: WordSource) -> None:
        """Index what is new in one source."""
        row = self._writer.source(source.agent, *source.key)
        begin = row.size if _has_grown(row, source) else 0
        if not begin and row.stamp:
            self._writer.forget(row)
        transcript = agents.transcript(source.agent)
        parts = source.below.split("/")
        file = SessionFile(source.path, source.kind, source.session, transcript.task_of(parts))
        session = StoredSession(agent=source.agent, id=source.session, files=(file,))
        opened = Parts(session, transcript)
        try:
            size = begin
            for part in opened:
                self._add(part, source, row, begin)
                size = part.content.size
        finally:
            opened.close()
        self._writer.note(row, source.stamp, size)

    def _add(self, part: Part, source: WordSource, row: SourceRow, begin: int) -> None:
        waiting: list[Document] = []
        size = 0
        session = _Session(source)
        for records in _decoded(part, source.agent):
            session.look_at(records)
            for document in documents(records):
                if document.offset >= begin:
                    waiting.append(document)
                    size += len(document.text)
            if size > _MOST_TEXT:
                self._write(waiting, session, row)
                waiting, size = [], 0
        self._write(waiting, session, row)

    def _write(self, waiting: Sequence[Document], session: "_Session", row: SourceRow) -> None:
        if waiting:
            number = self._writer.session(session.agent, session.id, session.project)
            self._writer.add(waiting, session=number, source=row)


class _Session:
    """Which session a source belongs to: what its path says, else what its lines report."""

    def __init__(self, source: WordSource) -> None:
        self.agent = source.agent
        self._named = agents.transcript(source.agent).session_of(source.below.split("/"))
        self._reported: str | None = None
        self._key = source.session
        self.project: str | None = None

    @property
    def id(self) -> str:
        """Its id."""
        return self._key or self._named or self._reported or ""

    def look_at(self, records: Sequence[Record]) -> None:
        """Note what records say about the session."""
        for record in records:
            if isinstance(record.event, SessionStarted):
                self._reported = self._reported or record.event.session
                self.project = self.project or record.event.cwd


def _has_grown(row: SourceRow, source: WordSource) -> bool:
    """Whether a file has only grown since it was indexed, as far as its inode and size tell."""
    return (
        source.kind == "lines"
        and row.stamp.split(" ")[0] == source.stamp.split(" ")[0]
        and source.size >= row.size > 0
    )


def _decoded(part: Part, agent: str) -> Iterator[list[Record]]:
    decoder = agents.transcript(agent).decoder()
    for chunk in part.chunks():
        yield decoder.feed(chunk)
    yield decoder.close()
