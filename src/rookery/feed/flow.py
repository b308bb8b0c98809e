"""What has come of a stream so far, for readers of any speed: in a log, else in memory."""

from collections import deque
from pathlib import Path
from threading import Condition
from typing import NamedTuple

from rookery.feed.tail import Tail
from rookery.store.file_names import STDOUT

_MOST_LOOSE = 16 << 20  # bytes that no log has, before whoever brings them has to wait
_LOOK_S = 0.1

Pieces = list[tuple[bytes, float | None]]


class _Loose(NamedTuple):
    """Bytes that came but are not in the log, and where in it they would be."""

    position: int
    data: bytes
    at: float


class Flow:
    """Bytes from one thread to several, each of which reads all of them at its own pace.

    What is in the log is read from there and costs no memory. The rest is held until the slowest
    reader has had it; there is a most, and then the writer waits.
    """

    def __init__(self) -> None:
        self.folder: Path | None = None
        """The run folder whose log has what was kept."""
        self.given_up = False
        """Whether the writer shall wait for nobody any more."""
        self._changed = Condition()
        self._kept = 0
        self._loose: deque[_Loose] = deque()
        self._loose_size = 0
        self._had = 0  # loose pieces that all readers have had
        self._ended = False
        self._readers: list[FlowReader] = []

    def add(self, kept: int, loose: bytes, at: float) -> None:
        """Tell how much the log has now, and hand over what it could not take."""
        with self._changed:
            self._kept = kept
            if loose:
                self._loose.append(_Loose(kept, loose, at))
                self._loose_size += len(loose)
            self._changed.notify_all()
            while self._loose_size > _MOST_LOOSE and not self.given_up:
                self._changed.wait(_LOOK_S)

    def end(self) -> None:
        """Say that no more comes."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def reader(self) -> "FlowReader":
        """Make a reader; it must be made before the first byte comes."""
        reader = FlowReader(self)
        self._readers.append(reader)
        return reader

    def leave(self, reader: "FlowReader") -> None:
        """Wait for a reader no more."""
        with self._changed:
            self._readers.remove(reader)
            self._let_go()

    def until(self, reader: "FlowReader", patience_s: float | None) -> int | _Loose | None:
        """Wait for what a reader must read next: the log up to there, or a piece; None at the end.

        A piece counts as read. Who is not patient gets where it is, if nothing came.
        """
        with self._changed:
            while True:
                index = reader.had - self._had
                piece = self._loose[index] if index < len(self._loose) else None
                until = self._kept if piece is None else piece.position
                if reader.position < until:
                    return until
                if piece is not None:
                    reader.had += 1
                    self._let_go()
                    return piece
                if self._ended:
                    return None
                if not self._changed.wait(patience_s):
                    return reader.position

    def _let_go(self) -> None:
        """Drop what all readers have had."""
        least = min((reader.had for reader in self._readers), default=self._had + len(self._loose))
        while self._had < least:
            self._loose_size -= len(self._loose.popleft().data)
            self._had += 1
        self._changed.notify_all()


class FlowReader:
    """One who reads a flow from its first byte to its last."""

    def __init__(self, flow: Flow) -> None:
        self.had = 0
        """How many loose pieces it has read."""
        self._flow = flow
        self._tail: Tail | None = None

    @property
    def position(self) -> int:
        """Where in the log it is."""
        return 0 if self._tail is None else self._tail.position

    def read(self, patience_s: float | None = None) -> Pieces | None:
        """Wait for the next bytes and give them; None at the end, nothing if none came so long."""
        until = self._flow.until(self, patience_s)
        if until is None:
            return None
        if isinstance(until, _Loose):
            return [(until.data, until.at)]
        if until == self.position:
            return []
        if self._tail is None:
            assert self._flow.folder is not None
            self._tail = Tail(self._flow.folder, STDOUT, b"o")
        return self._tail.read(until)

    def close(self) -> None:
        """Leave, and let go of the log."""
        self._flow.leave(self)
        if self._tail is not None:
            self._tail.close()
