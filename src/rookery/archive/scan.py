"""Finds the lines of a file that hold a needle, without making objects of the others.

Nearly all bytes of a stored session are results of tools, which have no usage. One buffer is
reused for all files; they are not mapped into memory, because a file that shrinks would kill us.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from rookery.adapter.history import History
from rookery.adapter.lines import DEFAULT_CAP, LineBuffer, Oversized
from rookery.adapter.oversized import shortened

_BUFFER = 256 * 1024
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
        kept = 0  # bytes of an unfinished line, at the start of the buffer
        while count := os.readv(fd, [view[kept:]]):
            filled = kept + count
            end = buffer.rfind(b"\n", kept, filled) + 1
            if not end and filled == len(buffer):
                lines, size, filled = self._long_line(fd)
                if not size:
                    return
                position += size
                yield Hits(lines, position)
                end = buffer.rfind(b"\n", 0, filled) + 1
            if end:
                position += end
                yield Hits(self._hits(end), position)
            kept = filled - end
            buffer[:kept] = buffer[end:filled]
        self.rest = bytes(view[:kept])

    def _hits(self, end: int) -> list[bytes]:
        """The lines with a needle in the first part of the buffer."""
        buffer, view, needles = self._buffer, self._view, self._needles
        find, startswith = buffer.find, buffer.startswith
        before, after = self._bulk or (b"", b"")
        length = len(before)
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
                if find(needle, start, stop) >= 0:
                    lines.append(bytes(view[start:stop]))
                    break
            start = stop + 1
        return lines

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
            whole = shortened(line) if isinstance(line, Oversized) else line
            if whole is not None and any(needle in whole for needle in self._needles):
                yield bytes(whole).removesuffix(b"\n")
