"""The most recent records of a feed, shared by every reader that keeps up."""

from collections import deque

from nightrook.model.records import Record

_WINDOW_BYTES = 8 << 20
_BATCH_SIZE = 512  # records; batches are joined up to it, because the collector visits each batch


class Window:
    """Keeps the last records: as many as came from a few megabytes of the stream."""

    def __init__(self, size: int = _WINDOW_BYTES) -> None:
        self._size = size
        self._batches: deque[list[Record]] = deque()
        self._next = 0
        self._end = 0

    def add(self, records: list[Record], *, keep_from: int | None = None) -> None:
        """Add the next records; the oldest make room, except those from `keep_from` on."""
        if not records:
            return
        batches = self._batches
        if batches and len(batches[-1]) + len(records) <= _BATCH_SIZE:
            batches[-1].extend(records)
        else:
            batches.append(records.copy())
        self._next = records[-1].seq + 1
        self._end = records[-1].offset + records[-1].length
        oldest = self._end - self._size
        while batches[0][0].offset < oldest and len(batches) > 1:
            if keep_from is not None and batches[1][0].seq > keep_from:
                break
            batches.popleft()

    def since(self, seq: int) -> list[Record] | None:
        """The records from a number on; None if some of them have left the window."""
        if seq >= self._next:
            return []
        if seq < self._batches[0][0].seq:
            return None
        parts: list[list[Record]] = []
        for batch in reversed(self._batches):
            first = batch[0].seq
            parts.append(batch[max(0, seq - first) :])
            if first <= seq:
                break
        return parts[0] if len(parts) == 1 else [each for part in parts[::-1] for each in part]

    def bytes_since(self, seq: int) -> int:
        """How many bytes of the stream the records from a number on came from."""
        for batch in self._batches:
            if seq <= batch[-1].seq:
                return self._end - batch[max(0, seq - batch[0].seq)].offset
        return 0
