"""Cuts bytes, in chunks of any size, into lines; no other module looks for newlines."""

from io import BytesIO
from typing import cast, final

import msgspec

DEFAULT_CAP = 10 * 1024 * 1024
"""The longest line that is kept, in bytes without its newline."""

_MOST_KEPT = 32 * 1024  # of the beginning and of the end of a line over the cap


@final
class Oversized(msgspec.Struct, frozen=True):
    """A line over the cap: its size, its beginning and its end, newline included."""

    size: int
    head: bytes
    tail: bytes = b""
    quotes: int = 0
    """The number of quotes without a backslash between head and tail."""

    escaped: bool = False
    """True if a backslash escapes the first byte of the tail."""

    def __len__(self) -> int:
        return self.size


Line = bytes | Oversized
"""A line with its newline, if it has one: only the last line of a stream may lack it."""


class LineBuffer:
    """Cuts a stream after each newline byte; holds at most `cap` bytes of an unfinished line."""

    def __init__(self, cap: int = DEFAULT_CAP) -> None:
        if cap < 1:
            raise ValueError(f"a line cap must be at least 1 byte, not {cap}")
        self._cap = cap
        self._kept = min((cap + 1) // 2, _MOST_KEPT)  # the same for any size of chunks
        self._partial = BytesIO()  # the unfinished line, if it is not over the cap
        self._length = 0  # of the unfinished line, kept or not
        self._ends: _Ends | None = None  # of the unfinished line, if it is over the cap

    def feed(self, data: bytes) -> list[Line]:
        """Take the next bytes and return the lines that they complete."""
        first = data.find(b"\n") + 1
        if not first:
            self._keep(data)
            return []
        if first == len(data) and not self._length and type(data) is bytes:
            # Just one line, as a running agent writes it. A bytearray may change, so it is copied.
            return [self._capped(data)]
        end = data.rfind(b"\n") + 1
        # Four times as fast as bytes.split, which compares byte by byte.
        whole = BytesIO(data).readlines(end)
        lines = cast("list[Line]", whole)
        if self._length:
            self._keep(whole[0])
            lines[0] = self._take()
        if len(data) > self._cap:
            lines = [self._capped(line) for line in lines]
        if end < len(data):
            self._keep(memoryview(data)[end:])
        return lines

    def close(self) -> Line | None:
        """Return the last line if it has no newline; None if nothing is left."""
        return self._take() if self._length else None

    def _keep(self, part: bytes | memoryview) -> None:
        # Copied at once, while it is in the processor's cache: with a join at the end, cutting
        # the benchmark's stream into lines takes a sixth longer.
        self._length += len(part)
        if self._ends is not None:
            self._ends.add(part)
        # guards: line-cap
        elif self._length <= self._cap + 1:  # the newline does not count
            self._partial.write(part)
        else:
            self._ends = _Ends(self._kept)
            self._ends.add(self._partial.getbuffer())
            self._partial = BytesIO()
            self._ends.add(part)

    def _take(self) -> Line:
        ends, partial = self._ends, self._partial.getvalue()
        self._partial = BytesIO()
        self._length = 0
        self._ends = None
        return self._capped(partial) if ends is None else ends.line()

    def _capped(self, line: Line) -> Line:
        if isinstance(line, Oversized) or len(line) - line.endswith(b"\n") <= self._cap:
            return line
        ends = _Ends(self._kept)
        ends.add(line)
        return ends.line()


class _Ends:
    """Keeps the beginning and the end of a long line, and counts the quotes between them."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._size = 0
        self._head = b""
        self._tail = bytearray()  # the end so far, at most twice as long as it will be
        self._quotes = 0
        self._escaped = False

    def add(self, part: bytes | memoryview) -> None:
        """Add the next bytes of the line."""
        whole = memoryview(part)
        for begin in range(0, len(whole), _MOST_KEPT):  # in pieces, so that it needs little memory
            self._add(whole[begin : begin + _MOST_KEPT])

    def _add(self, part: memoryview) -> None:
        self._size += len(part)
        missing = self._kept - len(self._head)
        if missing > 0:
            self._head += part[:missing]
            self._escaped = is_escaped_after(self._head)
            part = part[missing:]
        self._tail += part
        if len(self._tail) > 2 * self._kept:  # guards: line-end-bounded
            self._trim()

    def line(self) -> Oversized:
        """Return the line, which is complete."""
        self._trim()
        return Oversized(self._size, self._head, bytes(self._tail), self._quotes, self._escaped)

    def _trim(self) -> None:
        middle = bytes(self._tail[: -self._kept])
        if middle:
            del self._tail[: len(middle)]
            self._quotes += quotes_in(middle[self._escaped :])
            alone = self._escaped and len(middle) == 1
            self._escaped = not alone and is_escaped_after(middle[self._escaped :])


def quotes_in(json: bytes) -> int:
    """Count the quotes that no backslash escapes: those that begin or end a string."""
    if b'"' not in json:
        return 0
    if b"\\" in json:
        json = json.replace(b"\\\\", b"").replace(b'\\"', b"")
    return json.count(b'"')


def is_escaped_after(json: bytes) -> bool:
    """True if the next byte is escaped: an odd number of backslashes comes before it."""
    return (len(json) - len(json.rstrip(b"\\"))) % 2 == 1
