"""The bytes of a piped stream: read from its log, and from memory where the log lacks them."""

from collections import deque
from pathlib import Path
from typing import NamedTuple

from nightrook.story.tail import Piece, Tail


class _Unlogged(NamedTuple):
    """Bytes that the log could not take, and the position in it where they belong."""

    position: int
    data: bytes
    at: float


class Spool:
    """Bytes for any number of readers, each at its own pace.

    Bytes in the log cost no memory. The others are kept until every reader has read them.
    """

    def __init__(self) -> None:
        self.folder: Path | None = None
        """The run folder with the log, once there is one."""
        self.unread = 0
        """How many bytes are in memory because a reader has not read them yet."""
        self._logged = 0
        self._unlogged: deque[_Unlogged] = deque()
        self._released = 0  # pieces that every reader has read
        self._readers: list[SpoolReader] = []

    def add(self, logged: int, unlogged: bytes, at: float) -> None:
        """Note the size of the log, and keep what it could not take."""
        self._logged = logged
        if unlogged and self._readers:
            self._unlogged.append(_Unlogged(logged, unlogged, at))
            self.unread += len(unlogged)

    def reader(self) -> "SpoolReader":
        """A reader of everything from the first byte; create it before the first byte comes."""
        reader = SpoolReader(self)
        self._readers.append(reader)
        return reader

    def next_for(self, reader: "SpoolReader") -> int | _Unlogged | None:
        """What a reader reads next: the log up to a position, a piece, or None for nothing yet."""
        index = reader.pieces - self._released
        piece = self._unlogged[index] if index < len(self._unlogged) else None
        until = self._logged if piece is None else piece.position
        if reader.position < until:
            return until
        if piece is not None:
            reader.pieces += 1
            self._release()
        return piece

    def leave(self, reader: "SpoolReader") -> None:
        """Keep nothing for this reader any more."""
        if reader in self._readers:
            self._readers.remove(reader)
            self._release()

    def _release(self) -> None:
        last = self._released + len(self._unlogged)
        least = min((reader.pieces for reader in self._readers), default=last)
        while self._released < least:
            self.unread -= len(self._unlogged.popleft().data)
            self._released += 1


class SpoolReader:
    """Reads a spool from its first byte."""

    def __init__(self, spool: Spool) -> None:
        self.pieces = 0
        """How many pieces it has read that are not in the log."""
        self._spool = spool
        self._tail: Tail | None = None

    @property
    def position(self) -> int:
        """Its position in the log."""
        return 0 if self._tail is None else self._tail.position

    def read(self) -> list[Piece]:
        """Read the next bytes; nothing if there are none yet."""
        following = self._spool.next_for(self)
        if following is None:
            return []
        if isinstance(following, _Unlogged):
            return [(following.data, following.at)]
        if self._tail is None:
            assert self._spool.folder is not None
            self._tail = Tail(self._spool.folder, "stdout")
        return self._tail.read(following)

    def close(self) -> None:
        """Leave the spool and close the log."""
        self._spool.leave(self)
        if self._tail is not None:
            self._tail.close()
