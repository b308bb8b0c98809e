"""Finds the lines of a file that hold a needle, without making objects of the others.

Nearly all bytes of a stored session are results of tools, which have no usage. One buffer is
reused for all files; they are not mapped into memory, because a file that shrinks would kill us.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from nightrook.adapter.history import History
from nightrook.adapter.lines import DEFAULT_CAP, LineBuffer, Oversized
from nightrook.adapter.oversized import shortened
from nightrook.archive.earlier_lines import time_before

_BUFFER = 1024 * 1024
_HEAD = 2048  # of a line; what makes it bulk is there


class Hits(NamedTuple):
    """Lines that hold a needle, without their newlines, and the position behind them."""

    lines: list[bytes]
    position: int


class Scanner:
    """Reads files of one history after the other."""

    def __init__(self, history: History, *, size: int = _BUFFER, cap: int = DEFAULT_CAP) -> None:
        self._needles = history.needles
        self._bulk = history.bulk
        self._time = history.time
        self._time_mark = b"" if history.time is None else f'"{history.time}"'.encode()
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
        if self._time is None or self._time_mark in line:
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
