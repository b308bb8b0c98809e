"""The last records of a run, for readers that keep up; the others read the log."""

from collections import deque

from rookery.core.records import Record

_MOST_BYTES = 8 << 20


class Recent:
    """Keeps the last records, so many as came from a few megabytes of the log."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._batches: deque[list[Record]] = deque()
        self._bytes = 0
        self._next = 0

    def add(self, records: list[Record]) -> None:
        """Take in the next records; the oldest make room for them."""
        if not records:
            return
        self._batches.append(records)
        self._bytes += _size(records)
        self._next = records[-1].seq + 1
        while self._bytes > self._most_bytes and len(self._batches) > 1:
            self._bytes -= _size(self._batches.popleft())

    def since(self, seq: int) -> list[Record] | None:
        """The records from a number on; None if some of them are not kept any more."""
        if seq >= self._next:
            return []
        if seq < self._batches[0][0].seq:
            return None
        found: list[list[Record]] = []
        for batch in reversed(self._batches):
            begun = batch[0].seq
            found.append(batch[seq - begun :] if begun < seq else batch)
            if begun <= seq:
                break
        return [record for batch in reversed(found) for record in batch]


def _size(records: list[Record]) -> int:
    return records[-1].offset + records[-1].length - records[0].offset
