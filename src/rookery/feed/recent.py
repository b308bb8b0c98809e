"""The last records of a run, for readers that keep up; the others read the log."""

from collections import deque

from rookery.model.records import Record

_MOST_BYTES = 8 << 20
_FEW = 512  # records; batches are joined up to it, for the garbage collector visits each


class Recent:
    """Keeps the last records, so many as came from a few megabytes of the log."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._batches: deque[list[Record]] = deque()
        self._next = 0

    def add(self, records: list[Record]) -> None:
        """Take in the next records; the oldest make room for them."""
        if not records:
            return
        batches = self._batches
        if batches and len(batches[-1]) + len(records) <= _FEW:
            batches[-1].extend(records)
        else:
            batches.append(records.copy())
        self._next = records[-1].seq + 1
        oldest = records[-1].offset + records[-1].length - self._most_bytes
        while batches[0][0].offset < oldest and len(batches) > 1:
            batches.popleft()

    def since(self, seq: int) -> list[Record] | None:
        """The records from a number on; None if some of them are not kept any more."""
        if seq >= self._next:
            return []
        if seq < self._batches[0][0].seq:
            return None
        found: list[list[Record]] = []
        for batch in reversed(self._batches):
            begun = batch[0].seq
            found.append(batch[max(0, seq - begun) :])
            if begun <= seq:
                break
        return found[0] if len(found) == 1 else [each for batch in found[::-1] for each in batch]
