"""Reads what is new in one file of an agent: where to continue, which lines matter, what they mean.

The ledger has a `Source` for every file. It is committed in one transaction with what was read, so
that both are kept or neither: if this process dies, the next import continues where the last commit
ended. What is read twice is merged with itself and changes nothing (`ledger/calls.py`).

    inode, size and time as noted? ── yes ──▶ the file is not even opened (`Search` passes it over)
                 │ no
    the same file, which has only grown? ── yes ──▶ read on at `position`, with `memory`
                 │ no
    read from the start, marked as `rewritten`

- `position` is behind the last newline that was read. What follows it may be half a line. If it is
  a whole message it counts at once, but it is read again together with what is written later.
- `memory` is what the agent's reader remembers there, as the model of the session. With it, reading
  on finds what reading everything would have found.
- `head_hash` and `tail_hash` are of the file's first bytes and of those around the position. They
  differ if the file was cut and written again, replaced by another one or edited there. Neither
  size nor time can say so: a sync tool sets old times, and an editor may keep the size.
- A file that is read from the start again takes nothing away: what was counted stays counted, and
  only calls with other ids are new. `rewritten` says that the ledger may have more than the file,
  so that a rebuild keeps it.
- A file that changed in the last two seconds could change again without another time. Its inode is
  noted as 0, so that it is compared again instead of being passed over.

Documents and SQLite stores are read again when they have changed: a document whole, a store by
session (`sqlite_stores.py`).

Nearly all bytes of a file of lines are results of tools, which have no usage. `Scanner` finds the
lines that hold a needle without making objects of the others. One buffer is reused for all files;
they are not mapped into memory, because a file that shrinks would kill this process.
"""

import os
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from stat import S_ISREG
from typing import Any, NamedTuple

import msgspec

from nightrook.adapter.history import CountingReader, Finding, History
from nightrook.adapter.lines import DEFAULT_CAP, LineBuffer, Oversized
from nightrook.adapter.oversized import shortened
from nightrook.archive.ledger.sources import Source
from nightrook.archive.session_files import FoundFile, Stamp, open_unseen
from nightrook.archive.sqlite_stores import read_store

_SHORT, _QUICK = 512, 1  # a ledger has tens of thousands of memories: long ones are compressed
_MOST = 128 * 1024 * 1024  # of a document, which is read whole


class Part(NamedTuple):
    """Findings of one piece of a file."""

    findings: Sequence[Finding]
    size: int


class FileReader:
    """Reads files of one agent, one after the other."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._reader = history.stored()
        self._scanner = Scanner(self._reader, bulk=history.bulk)
        self._fd = -1
        self._position = 0
        self._memory: Any = None

    def read(self, file: FoundFile, source: Source) -> Iterator[Part]:
        """Yield new findings in a file; the source has the position when that is done.

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
        # guards: failing-reader
        except Exception as error:  # a reader of another package can raise anything
            _fail(source, f"its reader failed: {error!r}")
        yield Part([], 0)

    def save(self, source: Source) -> None:
        """Record the position in the current file, so that a batch can be written."""
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
        findings = self._reader.findings(self._history.lines(bytes(data)), self._begin(file))
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
                part = Part(self._reader.findings(lines, memory), end - self._position)
                self._position = end
                yield part
            note_stamp(source, stamp)
            self.save(source)
            self._memory = None  # the rest is read again, with what will follow it
            if _is_whole(self._scanner.rest):
                rest = self._scanner.timed_rest(fd, self._position)
                yield Part(self._reader.findings(rest, memory), 0)
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
        return self._reader.begin(file.below.split("/"))

    def _resume(self, source: Source) -> Any:
        """The memory of a file at its position; None if it cannot be decoded."""
        try:
            data = source.memory or b""
            plain = data if data.startswith(b"{") else zlib.decompress(data)
            return msgspec.json.decode(plain, type=self._reader.facts)
        except (zlib.error, ValueError, RecursionError):
            return None


def _dump(memory: Any) -> bytes:
    """A memory as JSON; a long one is compressed."""
    data = msgspec.json.encode(memory)
    return data if len(data) <= _SHORT else zlib.compress(data, _QUICK)


def _fail(source: Source, problem: str) -> None:
    source.state, source.problem = "unreadable", problem


def _is_whole(line: bytes) -> bool:
    """True if a line without a newline is complete: a file may end without one."""
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


_SAMPLE = 1024  # bytes that are compared, at the start and before the position
_LONGEST_REST = 1024 * 1024  # bytes of a line without a newline that are compared
_SETTLED_NS = 2_000_000_000  # clocks of files are coarse: a file can change twice in one moment


def start_position(fd: int, source: Source, stamp: Stamp) -> int:
    """Return where to read on: behind what was read if the file has only grown, else its start.

    A source whose earlier bytes have changed, or may have, is marked as rewritten.
    """
    if source.head_hash is None:  # it was not read before
        return 0
    is_same_file = source.inode in (0, stamp.inode)
    has_grown = stamp.size > source.size or not source.inode
    is_unchanged = stamp.mtime_ns == source.mtime_ns
    only_grown = is_same_file and (has_grown or is_unchanged)
    if only_grown and _hashes(fd, source) == (  # guards: changed-file-read-again
        source.head_hash,
        source.tail_hash,
    ):
        return source.position
    source.rewritten = True
    return 0


def note_position(fd: int, source: Source, position: int) -> None:
    """Record the position up to which a file was read."""
    source.position = position
    source.head_hash, source.tail_hash = _hashes(fd, source)


def note_stamp(source: Source, stamp: Stamp) -> None:
    """Record the state of a file, which shows later whether it has changed.

    A file that changed just now has no inode noted: it is compared again next time.
    """
    settled = time.time_ns() - stamp.mtime_ns > _SETTLED_NS
    source.inode = stamp.inode if settled else 0
    source.size, source.mtime_ns = stamp.size, stamp.mtime_ns


def _hashes(fd: int, source: Source) -> tuple[bytes, bytes]:
    """Hash the first bytes, and those around the position: a line at the end is read as well."""
    position = source.position
    length = min(position, _SAMPLE)
    rest = min(max(source.size - position, 0), _LONGEST_REST)
    return _hash(os.pread(fd, length, 0)), _hash(os.pread(fd, length + rest, position - length))


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


_BUFFER = 1024 * 1024
_HEAD = 2048  # of a line; what makes it bulk is there


class Hits(NamedTuple):
    """Lines that hold a needle, without their newlines, and the position behind them."""

    lines: list[bytes]
    position: int


class Scanner:
    """Finds the lines that a reader needs, in one file of an agent after the other."""

    def __init__(
        self,
        reader: CountingReader,
        *,
        bulk: tuple[bytes, bytes] | None = None,
        size: int = _BUFFER,
        cap: int = DEFAULT_CAP,
    ) -> None:
        self._needles = reader.needles
        self._bulk = bulk
        self._time = reader.time
        self._time_mark = b"" if reader.time is None else f'"{reader.time}"'.encode()
        self._behind_hit = 0  # the position of the end of the last line with a needle
        self._buffer = bytearray(size)
        self._view = memoryview(self._buffer)
        self._cap = cap
        self.rest = b""
        """The line without a newline at the end of the last file, as far as it fits the buffer."""

    def scan(self, fd: int, position: int) -> Iterator[Hits]:
        """Read an open file from a position to its end, a part at a time.

        The position of the last part is behind the last newline: what follows may be half a line.
        """
        buffer, view = self._buffer, self._view
        os.lseek(fd, position, os.SEEK_SET)
        self.rest = b""
        self._behind_hit = 0
        kept = 0  # bytes of an unfinished line, at the start of the buffer
        while count := os.readv(fd, [view[kept:]]):
            filled = kept + count
            end = buffer.rfind(b"\n", kept, filled) + 1
            if not end and filled == len(buffer):
                lines, size, filled = self._long_line(fd)
                if not size:
                    return
                if lines:
                    lines = [*self._time_of(fd, lines[0], position), *lines]
                    self._behind_hit = position + size
                position += size
                yield Hits(lines, position)
                end = buffer.rfind(b"\n", 0, filled) + 1
            if end:
                lines = self._hits(fd, position, end)
                position += end
                yield Hits(lines, position)
            kept = filled - end
            buffer[:kept] = buffer[end:filled]
        self.rest = bytes(view[:kept])

    def timed_rest(self, fd: int, position: int) -> list[bytes]:
        """The line without a newline at the end of the file, behind the time that it has."""
        return [*self._time_of(fd, self.rest, position), self.rest]

    def _hits(self, fd: int, position: int, end: int) -> list[bytes]:
        """The lines with a needle in the first part of the buffer, which is at a position."""
        buffer, view, needles = self._buffer, self._view, self._needles
        find, rfind, startswith = buffer.find, buffer.rfind, buffer.startswith
        before, after = self._bulk or (b"", b"")
        length, mark = len(before), self._time_mark
        lines: list[bytes] = []
        start = 0
        while start < end:
            stop = find(b"\n", start, end)
            if length:
                place = find(before, start, start + _HEAD)
                if 0 <= place < stop and startswith(after, place + length):
                    start = stop + 1
                    continue
            for needle in needles:
                if rfind(needle, start, stop) >= 0:  # most have their usage and time at the end
                    line = bytes(view[start:stop])
                    if line.rfind(mark) < 0:
                        lines += self._time_of(fd, line, position + start)
                    lines.append(line)
                    self._behind_hit = position + stop
                    break
            start = stop + 1
        return lines

    def _time_of(self, fd: int, line: bytes, start: int) -> list[bytes]:
        """The time of a line that has none, which is that of a line before it, as a message."""
        if self._time is None or self._time_mark in line:  # guards: untimed-line
            return []
        time = time_before(fd, start, self._behind_hit, self._time)
        return [] if time is None else [time]

    def _long_line(self, fd: int) -> tuple[list[bytes], int, int]:
        """Read on to the end of a line that fills the buffer.

        Returns the line if it holds a needle, its size with the newline, and how many bytes of the
        next line are in the buffer then; the size is 0 if the line has no end.
        """
        buffer, view = self._buffer, self._view
        skipped = self._is_bulk()
        collected = LineBuffer(self._cap)
        if not skipped:
            collected.feed(bytes(buffer))
        size = len(buffer)
        while count := os.readv(fd, [view]):
            end = buffer.find(b"\n", 0, count) + 1
            lines = [] if skipped else collected.feed(bytes(view[: end or count]))
            size += end or count
            if end:
                buffer[: count - end] = buffer[end:count]
                return [*self._with_needle(lines)], size, count - end
        return [], 0, 0

    def _is_bulk(self) -> bool:
        if self._bulk is None:
            return False
        before, after = self._bulk
        place = self._buffer.find(before, 0, _HEAD)
        return place >= 0 and self._buffer.startswith(after, place + len(before))

    def _with_needle(self, lines: list[bytes | Oversized]) -> Iterator[bytes]:
        for line in lines:
            for whole in _readable(line):
                if any(needle in whole for needle in self._needles):
                    yield whole.removesuffix(b"\n")
                    break


def _readable(line: bytes | Oversized) -> Iterator[bytes]:
    """A line; of one that is too long what is left without its middle, as JSON or as it is."""
    if not isinstance(line, Oversized):
        yield line
        return
    whole = shortened(line)
    if whole is not None:
        yield bytes(whole)
    yield line.head + line.tail


_CHUNK = 1 << 20
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.Encoder().encode


def time_before(fd: int, end: int, start: int, field: str) -> bytes | None:
    """A message with nothing but the field of the last line before `end` that has it.

    Looks back to `start`; None if no line there has a time.
    """
    for line in _lines_before(fd, end, start):
        try:
            value = _FIELDS.decode(line).get(field)
        except (ValueError, RecursionError):
            continue
        if value is not None and bytes(value) != b"null":
            return _encode({field: value})
    return None


def _lines_before(fd: int, end: int, start: int) -> Iterator[bytes]:
    """The lines between two positions, the last one first; those that are very long are cut."""
    rest = b""
    while end > start:
        size = min(_CHUNK, end - start)
        end -= size
        rest, *lines = (os.pread(fd, size, end) + rest[:DEFAULT_CAP]).split(b"\n")
        yield from filter(None, reversed(lines))
    yield rest
