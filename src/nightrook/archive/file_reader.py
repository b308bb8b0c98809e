"""Reads what is new in one file, of whatever kind it is."""

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from stat import S_ISREG
from typing import Any, NamedTuple

import msgspec

from nightrook.adapter.history import Finding, History
from nightrook.archive.ledger.sources import Source
from nightrook.archive.places import FoundFile
from nightrook.archive.positions import Stamp, note_position, note_stamp, start_position
from nightrook.archive.scan import Scanner
from nightrook.archive.sqlite_stores import read_store
from nightrook.archive.unseen import open_unseen

_SHORT, _QUICK = 512, 1  # a ledger has tens of thousands of memories: long ones are compressed
_MOST = 128 * 1024 * 1024  # of a document, which is read whole


class Part(NamedTuple):
    """What was found in some bytes of a file."""

    findings: Sequence[Finding]
    size: int


class FileReader:
    """Reads files of one agent, one after the other."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._scanner = Scanner(history)
        self._fd = -1
        self._position = 0
        self._memory: Any = None

    def read(self, file: FoundFile, source: Source) -> Iterator[Part]:
        """Yield what is new in a file; the source says how far it was read when that is done.

        What cannot be read makes the source unreadable; nothing is raised.
        """
        source.state, source.problem = "ok", None
        try:
            if file.kind == "sqlite":
                yield from self._store(file, source)
            else:
                yield from self._file(file, source)
        except FileNotFoundError:
            source.state = "gone"
        except OSError as error:
            _fail(source, error.strerror or str(error))
        except Exception as error:  # a reader of another package can raise anything
            _fail(source, f"its reader failed: {error!r}")
        yield Part([], 0)

    def save(self, source: Source) -> None:
        """Note how far the file that is being read was read, so that a batch can be written."""
        if self._memory is not None:
            note_position(self._fd, source, self._position)
            source.memory = _dump(self._memory)

    def _file(self, file: FoundFile, source: Source) -> Iterator[Part]:
        with _opened(file.path) as (fd, stamp):
            if file.kind == "document":
                yield self._document(fd, file)
                note_stamp(source, stamp)
            else:
                yield from self._lines(fd, file, source, stamp)

    def _document(self, fd: int, file: FoundFile) -> Part:
        data = bytearray()
        while part := os.read(fd, 1 << 20):
            data += part
            if len(data) > _MOST:
                raise OSError(f"it is larger than {_MOST >> 20} MiB")
        findings = self._history.findings([bytes(data)], self._begin(file))
        if not findings and not _is_json(data):
            raise OSError("it is damaged, or not completely written")
        return Part(findings, len(data))

    def _lines(self, fd: int, file: FoundFile, source: Source, stamp: Stamp) -> Iterator[Part]:
        position = start_position(fd, source, stamp)
        memory = self._resume(source) if position else None
        if memory is None:
            position, memory = 0, self._begin(file)
        self._fd, self._position, self._memory = fd, position, memory
        try:
            for lines, end in self._scanner.scan(fd, position):
                part = Part(self._history.findings(lines, memory), end - self._position)
                self._position = end
                yield part
            note_stamp(source, stamp)
            self.save(source)
            self._memory = None  # the rest is read again, with what will follow it
            if _is_whole(self._scanner.rest):
                rest = self._scanner.timed_rest(fd, self._position)
                yield Part(self._history.findings(rest, memory), 0)
        finally:
            self._memory = None

    def _store(self, file: FoundFile, source: Source) -> Iterator[Part]:
        size = file.stamp.size
        for reading in read_store(self._history, file.path, source.memory):
            source.memory = reading.memory
            if reading.problem is not None:
                _fail(source, reading.problem)
            yield Part(reading.findings, size)
            size = 0
        source.inode, source.size, source.mtime_ns = file.stamp

    def _begin(self, file: FoundFile) -> Any:
        begin = self._history.begin
        return self._history.memory() if begin is None else begin(file.below.split("/"))

    def _resume(self, source: Source) -> Any:
        """The memory of a file at its position; None if it cannot be decoded."""
        try:
            data = source.memory or b""
            plain = data if data.startswith(b"{") else zlib.decompress(data)
            return msgspec.json.decode(plain, type=self._history.memory)
        except (zlib.error, ValueError, RecursionError):
            return None


def _dump(memory: Any) -> bytes:
    """A memory as JSON; a long one is compressed."""
    data = msgspec.json.encode(memory)
    return data if len(data) <= _SHORT else zlib.compress(data, _QUICK)


def _fail(source: Source, problem: str) -> None:
    source.state, source.problem = "unreadable", problem


def _is_whole(line: bytes) -> bool:
    """Whether a line without a newline is complete: a file may end without one."""
    return line.rstrip().endswith(b"}") and _is_json(line)


def _is_json(data: bytes | bytearray) -> bool:
    try:
        msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return False
    return True


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, Stamp]]:
    """A plain file, open to read while the block lasts."""
    fd = open_unseen(path)
    try:
        stat = os.fstat(fd)
        if not S_ISREG(stat.st_mode):
            raise OSError("it is not a plain file")
        yield fd, Stamp.of(stat)
    finally:
        os.close(fd)
