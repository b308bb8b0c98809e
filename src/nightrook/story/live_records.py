"""Records for a reader that prefers losing some to falling behind."""

import asyncio
from typing import Self

from nightrook.model.records import Record


class LiveRecords:
    """The records from now on: when the buffer is full, new ones are dropped and counted."""

    def __init__(self, buffer: int) -> None:
        self.dropped = 0
        self._queue: asyncio.Queue[Record | None] = asyncio.Queue()
        self._buffer = buffer

    def offer(self, records: list[Record]) -> None:
        """Add the records that fit; the others are dropped."""
        room = max(0, self._buffer - self._queue.qsize())
        for record in records[:room]:
            self._queue.put_nowait(record)
        self.dropped += max(0, len(records) - room)

    def end(self) -> None:
        """End the iteration after what is in the buffer."""
        self._queue.put_nowait(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        record = await self._queue.get()
        if record is None:
            self._queue.put_nowait(None)
            raise StopAsyncIteration
        return record
