"""Appends an agent's output to its raw logs, with arrival times. Standard library only."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from nightrook.process.digest import Digest
from nightrook.process.plain_file import open_plain

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable

_SMALL = 64 << 10  # read at once; more only while an agent writes so much
_LARGE = 1 << 20
_WRITE = os.O_WRONLY | os.O_CREAT


class Room:
    """The bytes by which the logs of a run may still grow; None is as much as there is."""

    def __init__(self, left: int | None) -> None:
        self._left = left
        self.is_used_up = False

    def fit(self, data: bytes) -> bytes:
        """Return the part of the data that there is room for."""
        if self._left is None or len(data) <= self._left:
            return data
        self.is_used_up = True
        return data[: self._left]

    def use(self, size: int) -> None:
        """Subtract written bytes from the room that is left."""
        if self._left is not None:
            self._left -= size


class Log:
    """One raw log: appends bytes as they arrive, and counts those that do not fit.

    It writes at its own position, so bytes that another process appends do not move the log's. Its
    size and digest are of what it wrote itself, whatever the file has.
    """

    def __init__(
        self, folder: int, name: str, letter: bytes, arrivals: Arrivals, room: Room | None = None
    ) -> None:
        self._room = room or Room(None)
        self._fd = open_plain(name, _WRITE, folder)
        self._letter = letter
        self._arrivals = arrivals
        self._gap = 0
        self._synced = 0
        self._digest = Digest()
        self.size = 0
        self.lost = 0
        self.most = _SMALL
        """The number of bytes to read for it at once."""

    def append(self, data: bytes) -> None:
        """Write all bytes, or count those that cannot be written; never wait for space."""
        at = time.time()
        begun, size = self.size, len(data)
        self.most = _LARGE if size >= self.most else _SMALL
        written = self._write(self._room.fit(data))
        self._room.use(written)
        self.size = begun + written
        if written:
            self._digest.update(data if written == size else data[:written])
            if self._gap:
                self._arrivals.add(at, self._letter.upper(), begun, self._gap)
                self._gap = 0
            self._arrivals.add(at, self._letter, begun, written)
        if written < size:
            self._gap += size - written
            self.lost += size - written

    def _write(self, data: bytes) -> int:
        """Write as much as there is room for; return how much that was."""
        done = 0
        while done < len(data):
            try:
                rest = memoryview(data)[done:] if done else data
                done += os.pwrite(self._fd, rest, self.size + done)  # guards: own-position
            except InterruptedError:
                continue
            except OSError:  # guards: recorder-on-full-disk
                break
        return done

    @property
    def sha256(self) -> str:
        """The digest of the written bytes, for readers to compare."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Record a last gap, sync everything to disk and close the log."""
        if self._gap:
            self._arrivals.add(time.time(), self._letter.upper(), self.size, self._gap)
        with suppress(OSError):
            self.sync()  # guards: closed-log-synced
        os.close(self._fd)

    def sync(self) -> None:
        """Sync the bytes written since the last sync to disk."""
        size = self.size
        if size > self._synced:
            self._synced = size  # a failed sync is not repeated: it would not save what was lost
            os.fsync(self._fd)


class Arrivals:
    """The times at which bytes arrived, one line each: first to the waiting runner, then to disk.

    What cannot be written now is tried again.
    """

    def __init__(
        self, folder: int, name: str, ring: Callable[[bytes], object] | None = None
    ) -> None:
        self._fd = open_plain(name, _WRITE | os.O_APPEND, folder)
        self._ring = ring
        self._waiting = b""

    def add(self, at: float, letter: bytes, offset: int, length: int) -> None:
        """Record that bytes arrived or, with a capital letter, that they were lost."""
        line = b"%.6f %b %d %d\n" % (at, letter, offset, length)
        if self._ring is not None:
            self._ring(line)
        waiting = self._waiting + line
        try:
            self._waiting = waiting[os.write(self._fd, waiting) :]
        except OSError:
            self._waiting = waiting

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
