"""The files in which agents store sessions: all of them, newest first, and how each is read.

A session is a file of lines, a document that is turned into lines, rows of a SQLite store, or a
compressed copy. `SessionBytes` has all files of one session, each in its own range of offsets;
`SourceReading` decodes one source.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from nightrook import agents
from nightrook.adapter.history import History, Kind, Transcript
from nightrook.archive.session_files import FoundFile, Search, open_unseen, storable_path
from nightrook.archive.sqlite_stores import opened
from nightrook.model.events import SessionStarted
from nightrook.model.records import Record

COPY = ".zst"
"""Suffix of a compressed copy."""

_CHUNK = 256 * 1024
_LARGEST = 128 << 20  # of a document, which is read whole
_LARGEST_COPY = 2 << 30


class SessionFile(NamedTuple):
    """A file of a session; in a SQLite store, its rows."""

    path: str
    kind: Kind
    key: str
    """The id of the session in a SQLite store; of a file, the session that it belongs to."""

    task: str | None = None
    """The task of the session whose events it has; None is the session itself."""


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that an agent keeps on disk."""

    agent: str
    id: str
    project: str | None = None
    title: str | None = None
    files: tuple[SessionFile, ...] = ()
    """The file of the session itself first; empty if they are gone."""


class Content(Protocol):
    """Content of a file."""

    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """Read so many bytes at an offset; less at the end."""

    def close(self) -> None:
        """Close the content."""


class _OpenFile:
    """A file of lines, as long as it was when it was opened."""

    def __init__(self, path: str) -> None:
        self._fd = open_unseen(path)
        self.size = os.fstat(self._fd).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        return os.pread(self._fd, max(0, min(size, self.size - offset)), offset)

    def close(self) -> None:
        os.close(self._fd)


class _Bytes:
    """Lines that were made from a document or from the rows of a store."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, offset: int, size: int) -> bytes:
        return self._data[offset : offset + size]

    def close(self) -> None:
        """Do nothing: no file is open."""


class FileBytes(NamedTuple):
    """A file of a session and its place in the session's log."""

    content: Content
    base: int
    task: str | None

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in pieces."""
        position = 0
        while chunk := self.content.read_at(position, _CHUNK):
            position += len(chunk)
            yield chunk


class SessionBytes:
    """The open files of a session; those that cannot be read are left out."""

    def __init__(self, session: StoredSession, transcript: Transcript) -> None:
        self._parts: list[FileBytes] = []
        base = 0
        for file in session.files:
            with suppress(OSError):
                content = content_of(file, transcript)
                self._parts.append(FileBytes(content, base, file.task))
                base += content.size

    def __iter__(self) -> Iterator[FileBytes]:
        return iter(self._parts)

    def read_at(self, offset: int, size: int) -> bytes:
        """Read bytes of the file that has this offset."""
        for part in self._parts:
            if part.base <= offset < part.base + part.content.size:
                return part.content.read_at(offset - part.base, size)
        return b""

    def close(self) -> None:
        """Close all files."""
        for part in self._parts:
            part.content.close()
        self._parts.clear()


def content_of(file: SessionFile, transcript: Transcript) -> Content:
    """Open a file of a session; raise an OSError if it cannot be read."""
    if file.path.endswith(COPY):
        return _Bytes(_uncompressed(file.path))
    if file.kind == "sqlite":
        return _Bytes(_rows(file.path, file.key, transcript.query or ""))
    content = _OpenFile(file.path)
    if file.kind == "lines" or transcript.lines is None:
        return content
    with closing(content):
        document = content.read_at(0, _LARGEST)
    return _Bytes(b"".join(line + b"\n" for line in transcript.lines(document)))


def _uncompressed(path: str) -> bytes:
    """The bytes of a copy; an OSError if it is damaged, or the library is missing."""
    try:
        import zstandard

        return zstandard.ZstdDecompressor().decompress(
            Path(path).read_bytes(), max_output_size=_LARGEST_COPY
        )
    except Exception as error:  # zstandard's own, or that it is not installed
        raise OSError(str(error)) from error


def _rows(path: str, id: str, query: str) -> bytes:
    """The lines of a session in a store; empty if the store does not have it."""
    try:
        with opened(Path(path)) as store:
            rows = store.connection.execute(query, {"key": id})
            return b"".join(str(line).encode("utf-8", "replace") + b"\n" for (line,) in rows)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


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
        """Key of the source in an index."""
        return storable_path(self.path), self.session


def session_sources(homes: Sequence[Path]) -> list[SessionSource]:
    """Return all sources that can be read as events, newest first."""
    histories = [agents.history(name) for name in agents.HISTORIES]
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
    """Return the sessions of a store with their stamps; none if it cannot be read."""
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
        """Bytes of the source, once it was read; None if it could not be."""
        self.ended = 0
        """End of the last complete line; what follows may be half of one."""
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
        parts = SessionBytes(
            StoredSession(agent=self.agent, id="", files=(file,)), self._transcript
        )
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
