"""All stored sessions, newest first: files, and the sessions in SQLite stores."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nightrook import agents
from nightrook.adapter.history import History, Kind
from nightrook.archive.session_files import FoundFile, Search, storable_path
from nightrook.archive.sessions.find import SessionFile, StoredSession
from nightrook.archive.sessions.parts import Parts
from nightrook.archive.sqlite_stores import opened
from nightrook.model.events import SessionStarted
from nightrook.model.records import Record


class SessionSource(NamedTuple):
    """A file, or a session of a SQLite store."""

    agent: str
    path: str
    below: str
    kind: Kind
    session: str
    """The key of the session in a store; empty for a file."""

    stamp: str
    size: int
    mtime_ns: int

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in an index."""
        return storable_path(self.path), self.session


def session_sources(homes: Sequence[Path]) -> list[SessionSource]:
    """Everything that can be read as events, newest first."""
    histories = [agents.history(name) for name in agents.TRANSCRIPTS]
    found = Search(histories).homes(homes, os.environ)
    sources = [source for file in found for source in _sources(file)]
    return sorted(sources, key=lambda source: source.mtime_ns, reverse=True)


def _sources(file: FoundFile) -> Iterator[SessionSource]:
    agent, stamp = file.history.agent, file.stamp
    if file.kind != "sqlite":
        text = f"{stamp.inode} {stamp.size} {stamp.mtime_ns}"
        yield SessionSource(
            agent, file.path, file.below, file.kind, "", text, stamp.size, stamp.mtime_ns
        )
        return
    for key, mark in session_marks(file.history, file.path):
        yield SessionSource(agent, file.path, file.below, "sqlite", key, mark, 0, stamp.mtime_ns)


def session_marks(history: History, path: str) -> Iterator[tuple[str, str]]:
    """The sessions of a store, and what changes when they do; none if it cannot be read."""
    changes = agents.transcript(history.agent).changes or history.queries[0].changes
    try:
        with opened(Path(path)) as store:
            for key, mark in store.connection.execute(changes):
                yield str(key), str(mark)
    except (sqlite3.Error, OSError):
        return


class SourceReading:
    """Reads the records of one source, and notes which session they belong to."""

    def __init__(self, source: SessionSource) -> None:
        self.agent = source.agent
        self.project: str | None = None
        """The folder that the agent worked in, once a record has reported it."""
        self.size: int | None = None
        """How many bytes the source has, once it was read; None if it could not be."""
        self.ended = 0
        """Where the last line ends that is written whole; what follows may be half of one."""
        self._source = source
        self._transcript = agents.transcript(source.agent)
        self._named = self._transcript.session_of(source.below.split("/"))
        self._reported: str | None = None

    @property
    def session(self) -> str:
        """The id of the session: what its path says, else what its lines report."""
        return self._source.session or self._named or self._reported or ""

    def records(self) -> Iterator[list[Record]]:
        """Decode the source, in batches; nothing if it cannot be read."""
        source = self._source
        task = self._transcript.task_of(source.below.split("/"))
        file = SessionFile(source.path, source.kind, source.session, task)
        parts = Parts(StoredSession(agent=self.agent, id="", files=(file,)), self._transcript)
        try:
            for part in parts:
                decoder = self._transcript.decoder()
                position = 0
                for chunk in part.chunks():
                    if (end := chunk.rfind(b"\n")) >= 0:
                        self.ended = position + end + 1
                    position += len(chunk)
                    yield self._noted(decoder.feed(chunk))
                yield self._noted(decoder.close())
                self.size = part.content.size
        finally:
            parts.close()

    def _noted(self, records: list[Record]) -> list[Record]:
        for record in records:
            if isinstance(record.event, SessionStarted):
                self._reported = self._reported or record.event.session
                self.project = self.project or record.event.cwd
        return records
