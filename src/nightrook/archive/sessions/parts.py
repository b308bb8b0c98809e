"""The bytes of a session's files as one log: each file has its own range of offsets."""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from nightrook.adapter.stored import Transcript
from nightrook.archive.session_files import open_unseen
from nightrook.archive.sessions.find import SessionFile, StoredSession
from nightrook.archive.sqlite_stores import opened

COPY = ".zst"
"""How the name of a compressed copy ends."""

_CHUNK = 256 * 1024
_LARGEST = 128 << 20  # of a document, which is read whole
_LARGEST_COPY = 2 << 30


class Content(Protocol):
    """What a file has."""

    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """Read so many bytes at an offset; less at the end."""

    def close(self) -> None:
        """Close it."""


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
        """Nothing is open."""


class Part(NamedTuple):
    """A file of a session and its place in the session's log."""

    content: Content
    base: int
    task: str | None

    def chunks(self) -> Iterator[bytes]:
        """All bytes."""
        position = 0
        while chunk := self.content.read_at(position, _CHUNK):
            position += len(chunk)
            yield chunk


class Parts:
    """The open files of a session; those that cannot be read are left out."""

    def __init__(self, session: StoredSession, transcript: Transcript) -> None:
        self._parts: list[Part] = []
        base = 0
        for file in session.files:
            with suppress(OSError):
                content = content_of(file, transcript)
                self._parts.append(Part(content, base, file.task))
                base += content.size

    def __iter__(self) -> Iterator[Part]:
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
    """Open a file of a session; an OSError says that it cannot be read."""
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
    import sqlite3  # only for agents that have such stores

    try:
        with opened(Path(path)) as store:
            rows = store.connection.execute(query, {"key": id})
            return b"".join(str(line).encode("utf-8", "replace") + b"\n" for (line,) in rows)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
