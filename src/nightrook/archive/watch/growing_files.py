"""Reads the files of sessions as they grow: new records, and the state of all of them."""

import os
from collections import Counter
from collections.abc import Iterable
from stat import S_ISREG
from typing import Protocol

import msgspec

from nightrook.adapter.history import Transcript
from nightrook.archive.session_files import open_unseen
from nightrook.archive.sessions.reader import SessionFile, content_of
from nightrook.model.events import Text, ToolStarted, Unreadable, UserMessage
from nightrook.model.fold import Fold
from nightrook.model.price import Prices
from nightrook.model.records import Record
from nightrook.model.state import RunState

_CHUNK = 256 * 1024
_SAMPLE = 1024  # bytes before the position, by which a file that was rewritten is known


class Reading(Protocol):
    """One file of a session, or a session of a store."""

    @property
    def state(self) -> RunState:
        """State folded from all of it so far."""

    @property
    def is_answered(self) -> bool:
        """True if the agent's last message is text and calls nothing."""

    def read(self) -> list[Record]:
        """Read the records since the last call; none if the file cannot be read now."""


class GrowingFile:
    """A file of lines; the first `known` bytes are folded, but not returned as new.

    If the file was cut, replaced or rewritten, it is read again from its start, and only what is
    later than all before is new.
    """

    def __init__(
        self, path: str, transcript: Transcript, prices: Prices, *, known: int = 0
    ) -> None:
        self._path = path
        self._transcript = transcript
        self._prices = prices
        self._known = known
        self._latest: float | None = None  # of what the file had before it was rewritten
        self._inode: int | None = None
        self.is_answered = False
        """True if the agent's last message is text and calls nothing."""
        self._begin()

    @property
    def state(self) -> RunState:
        """State folded from all of it so far."""
        return self._fold.state

    @property
    def position(self) -> int:
        """Offset of the next byte to read."""
        return self._position

    def read(self) -> list[Record]:
        """Read the records appended since the last call; none if the file cannot be read now."""
        try:
            fd = open_unseen(self._path)
        except OSError:
            return []
        try:
            return self._read(fd)
        except OSError:
            return []
        finally:
            os.close(fd)

    def _begin(self) -> None:
        self._position = 0
        self._sample = b""
        self._decoder = self._transcript.decoder()
        self._fold = Fold((), self._prices, None)

    def _read(self, fd: int) -> list[Record]:
        stat = os.fstat(fd)
        if not S_ISREG(stat.st_mode):
            return []
        if self._inode not in (None, stat.st_ino) or not self._continues(fd):
            self._latest, self._known = self.state.last_activity, 0
            self._begin()
        self._inode = stat.st_ino
        new: list[Record] = []
        while data := os.pread(fd, _CHUNK, self._position):
            self._position += len(data)
            self._sample = (self._sample + data)[-_SAMPLE:]
            records = self._decoder.feed(data)
            self._fold.take(records)
            self.is_answered = _is_answered(records, self.is_answered)
            new += filter(self._is_new, records)
        return new

    def _continues(self, fd: int) -> bool:
        """True if the bytes before the position are those that were read."""
        size = len(self._sample)
        return os.pread(fd, size, self._position - size) == self._sample

    def _is_new(self, record: Record) -> bool:
        if self._latest is not None and record.at is not None:
            return record.at > self._latest
        return record.offset >= self._known


class RewrittenFile:
    """A document, or a session of a store: read whole when it has changed.

    Its messages change in place, so what is new is what did not happen as often before. What was
    there when it is first read is new if it is not before `since`.
    """

    def __init__(
        self, file: SessionFile, transcript: Transcript, prices: Prices, *, since: float | None
    ) -> None:
        self._file = file
        self._transcript = transcript
        self._prices = prices
        self._since = since
        self.is_answered = False
        """True if the agent's last message is text and calls nothing."""
        self._seen: Counter[int] = Counter()
        self._fold = Fold((), prices, None)

    @property
    def state(self) -> RunState:
        """State folded from all of it."""
        return self._fold.state

    def read(self) -> list[Record]:
        """Read the file again and return the new records; none if it cannot be read now."""
        try:
            content = content_of(self._file, self._transcript)
        except OSError:
            return []
        try:
            data = content.read_at(0, content.size)
        finally:
            content.close()
        records = self._transcript.decoder().feed(data)
        if all(isinstance(record.event, Unreadable) for record in records):
            return []  # it is being written
        self._fold = Fold((), self._prices, None)
        self._fold.take(records)
        self.is_answered = _is_answered(records, False)
        return self._new(records)

    def _new(self, records: list[Record]) -> list[Record]:
        now: Counter[int] = Counter()
        new: list[Record] = []
        for record in records:
            key = hash(msgspec.json.encode(record.event))
            now[key] += 1
            if now[key] > self._seen[key] and self._is_late(record):
                new.append(record)
        self._seen |= now
        self._since = None
        return new

    def _is_late(self, record: Record) -> bool:
        return self._since is None or (record.at is not None and record.at >= self._since)


def _is_answered(records: Iterable[Record], before: bool) -> bool:
    """True if the last of some records, or of those before, is the agent's text."""
    answered = before
    for record in records:
        if isinstance(record.event, Text | ToolStarted | UserMessage):
            answered = isinstance(record.event, Text)
    return answered
