"""Reads a growing raw log by position, with the times at which its bytes came."""

import os
from collections import deque
from pathlib import Path
from typing import Self

from rookery.store.file_names import ARRIVALS

_SMALL = 64 << 10  # read at once; more only when there was more
_LARGE = 256 << 10
_TIMES = 64 << 10
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC

Piece = tuple[bytes, float | None]
"""Bytes that came together, and when."""


class Tail:
    """Follows one raw log of a run folder; each viewer has its own, and none disturbs another."""

    def __init__(self, folder: Path, name: str, letter: bytes) -> None:
        self._folder = folder
        self._name = name
        self._letter = letter
        self._log: int | None = None
        self._arrivals: int | None = None
        self._arrivals_at = 0  # all before it is known; it may be in the middle of a line
        self._came: deque[tuple[int, float]] = deque()  # ends of appends, and when they came
        self._known = 0  # up to where times are known
        self._last: float | None = None  # of the times that are known
        self._most = _SMALL
        self.position = 0
        self.is_behind = False
        """Whether the last read left something."""

    def hear(self, bells: bytes) -> None:
        """Learn when bytes came from the recorder's bells, which saves a look at `arrivals`."""
        for line in bells.split(b"\n"):
            if self._note(line):
                self._arrivals_at += len(line) + 1

    def read(self, until: int | None = None, *, timed: bool = False) -> list[Piece]:
        """Give the next bytes, in the pieces in which they came; nothing if there are none yet.

        None behind `until`, a position, is given. With `timed`, bytes are left for later whose time
        of arrival is not known yet.
        """
        if self._log is None and not self._open():
            return []
        assert self._log is not None
        most = self._most if until is None else min(self._most, max(0, until - self.position))
        data = os.pread(self._log, most, self.position)
        if not data:
            self.is_behind = False
            return []
        self.is_behind = len(data) == self._most
        self._most = _LARGE if self.is_behind else _SMALL
        begun, end = self.position, self.position + len(data)
        if self._known < end:
            self._read_arrivals(end)
            if timed and self._known < end:
                end = max(begun, self._known)
                data = data[: end - begun]
        self.position = end
        if self._came and self._came[0][0] == end:  # it came in one piece
            return [(data, self._came.popleft()[1])]
        return self._cut(data, begun, end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        for fd in (self._log, self._arrivals):
            if fd is not None:
                os.close(fd)
        self._log = self._arrivals = None

    def _open(self) -> bool:
        try:
            self._log = os.open(self._folder / self._name, _FLAGS)
            self._arrivals = os.open(self._folder / ARRIVALS, _FLAGS)
        except FileNotFoundError:
            return self._log is not None
        return True

    def _cut(self, data: bytes, begun: int, end: int) -> list[Piece]:
        """Cut what was read into the pieces in which it came."""
        pieces: list[Piece] = []
        at = begun
        while self._came and at < end:
            until, came = self._came[0]
            if until > end:
                break
            self._came.popleft()
            if until > at:
                pieces.append((data[at - begun : until - begun], came))
                at = until
        if at < end:  # more was written since we looked at the times
            pieces.append((data[at - begun :], self._came[0][1] if self._came else self._last))
        return pieces

    def _read_arrivals(self, end: int) -> None:
        """Read the times of the bytes before `end`, and few more: there may be millions."""
        if self._arrivals is None:
            return
        while self._known < end:
            begin = max(0, self._arrivals_at - 1)
            new = os.pread(self._arrivals, _TIMES, begin)
            whole = new.rfind(b"\n") + 1
            if begin + whole <= self._arrivals_at:
                return
            # It begins at the newline before, or in a line that is known.
            for line in new[new.find(b"\n") if begin else 0 : whole].split(b"\n"):
                self._note(line)
            self._arrivals_at = begin + whole

    def _note(self, line: bytes) -> bool:
        """Learn from a line of `arrivals` when our next bytes came; False if it tells no such."""
        fields = line.split(b" ")
        if len(fields) != 4 or fields[1] != self._letter:
            return False
        begun = int(fields[2])
        end = begun + int(fields[3])
        if not begun <= self._known < end:
            return False
        self._last = float(fields[0])
        self._came.append((end, self._last))
        self._known = end
        return True
