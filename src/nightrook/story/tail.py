"""Reads the raw logs of a run by position, with arrival times: nothing else opens them to read."""

from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Self

from nightrook.model.errors import UnsafeRunError
from nightrook.process.digest import Digest
from nightrook.store.file_names import LOGS
from nightrook.store.logs import Arrival, LogFile, Stream, open_log, parse_arrival

_SMALL = 64 << 10  # read at once; more only when there was more
_LARGE = 256 << 10
_TIMES = 64 << 10
_CHUNK = 1 << 20

Piece = tuple[bytes, float | None]
"""Bytes that arrived together, and when."""


def read_at(folder: Path, stream: Stream, offset: int, size: int) -> bytes:
    """Read at most `size` bytes of a log at a position; nothing at its end."""
    log = open_log(folder / LOGS[stream])
    if log is None:
        return b""
    with closing(log):
        return log.read_at(size, offset)


def log_size(folder: Path, stream: Stream) -> int:
    """Return the current size of a log in bytes."""
    log = open_log(folder / LOGS[stream])
    if log is None:
        return 0
    with closing(log):
        return log.size


def log_chunks(folder: Path, stream: Stream) -> Iterator[bytes]:
    """The bytes that a log has now, without their times."""
    log = open_log(folder / LOGS[stream])
    if log is not None:
        position = 0
        with closing(log):
            while data := log.read_at(_CHUNK, position):
                position += len(data)
                yield data


def last_bytes(folder: Path, stream: Stream, size: int) -> bytes:
    """Read the last bytes that a log has now."""
    return read_at(folder, stream, max(0, log_size(folder, stream) - size), size)


class Tail:
    """Follows one raw log of a run folder; each reader has its own, and none disturbs another."""

    def __init__(self, folder: Path, stream: Stream, position: int = 0) -> None:
        self.stream = stream
        self._folder = folder
        self._log: LogFile | None = None
        self._arrivals: LogFile | None = None
        self._arrivals_at = 0  # all before it is known; it may be in the middle of a line
        self._came: deque[tuple[int, float]] = deque()  # ends of appends, and when they came
        self._known = 0  # times are known up to this position
        self._last: float | None = None  # of the times that are known
        self._most = _SMALL
        self.position = position
        self.end: int | None = None
        """End of the log, once that is known: nothing after it is read."""
        self.digest: Digest | None = None
        """Hash of all bytes read, if it is set before the first read."""
        self.is_behind = False
        """True if the last read left something."""

    def hear(self, arrival: Arrival, size: int) -> None:
        """Learn when bytes came from a recorder's bell, a line of `arrivals` of this size."""
        if self._note(arrival):
            self._arrivals_at += size

    def read(self, until: int | None = None, *, timed: bool = False) -> list[Piece]:
        """Read the next bytes, in the pieces in which they arrived; nothing if there are none yet.

        Reads nothing after the position `until`. With `timed`, bytes whose arrival time is not
        known yet are left for later.
        """
        if self._log is None and not self._open():
            return []
        assert self._log is not None
        most = self._most if until is None and self.end is None else self._room(until)
        data = self._log.read_at(most, self.position)
        if not data:
            self.is_behind = False
            return []
        self.is_behind = len(data) == self._most
        self._most = _LARGE if self.is_behind else _SMALL
        start, end = self.position, self.position + len(data)
        if self._known < end:
            self._read_arrivals(end)
            if timed and self._known < end:
                end = max(start, self._known)
                data = data[: end - start]
        self.position = end
        if self.digest is not None:
            self.digest.update(data)
        if self._came and self._came[0][0] == end:  # it came in one piece
            return [(data, self._came.popleft()[1])]
        return self._cut(data, start, end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        for log in (self._log, self._arrivals):
            if log is not None:
                log.close()
        self._log = self._arrivals = None

    def _open(self) -> bool:
        self._log = open_log(self._folder / LOGS[self.stream])
        return self._log is not None

    def _room(self, until: int | None) -> int:
        """Return the most bytes to read."""
        ends = (end for end in (until, self.end) if end is not None)  # guards: tail-end
        return min([self._most, *(max(0, end - self.position) for end in ends)])

    def _cut(self, data: bytes, start: int, end: int) -> list[Piece]:
        """Cut the bytes into the pieces in which they arrived."""
        pieces: list[Piece] = []
        at = start
        while self._came and at < end:
            until, came = self._came[0]
            if until > end:
                break
            self._came.popleft()
            if until > at:
                pieces.append((data[at - start : until - start], came))
                at = until
        if at < end:  # more was written since we looked at the times
            pieces.append((data[at - start :], self._came[0][1] if self._came else self._last))
        return pieces

    def _read_arrivals(self, end: int) -> None:
        """Read the times of the bytes before `end`, and few more: there may be millions."""
        if self._arrivals is None:  # in a copy of a run, it may come after the log
            # guards: damaged-arrivals
            with suppress(UnsafeRunError):  # without arrivals, the times are not known
                self._arrivals = open_log(self._folder / LOGS["arrivals"])
        while self._arrivals is not None and self._known < end:
            begin = max(0, self._arrivals_at - 1)
            new = self._arrivals.read_at(_TIMES, begin)
            whole = new.rfind(b"\n") + 1
            if begin + whole <= self._arrivals_at:
                return
            # It begins at the newline before, or in a line that is known.
            for line in new[new.find(b"\n") if begin else 0 : whole].split(b"\n"):
                arrival = parse_arrival(line)
                if arrival is not None and arrival.stream == self.stream:
                    self._note(arrival)
            self._arrivals_at = begin + whole

    def _note(self, arrival: Arrival) -> bool:
        """Learn when our next bytes came; False if it is about others."""
        end = arrival.offset + arrival.length
        if not arrival.offset <= self._known < end:
            return False
        self._last = arrival.at
        self._came.append((end, self._last))
        self._known = end
        return True


def pieces(folder: Path, stream: Stream = "stdout") -> Iterator[Piece]:
    """The bytes that a log has now, in the pieces in which they arrived."""
    with Tail(folder, stream) as tail:
        while read := tail.read():
            yield from read
