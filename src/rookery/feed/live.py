"""Records for screens: from now on, and dropped rather than waited for."""

import asyncio
from typing import Self

from rookery.model.records import Record


class LiveRecords:
    """Records for a screen: never waits for it, drops the newest when the screen is slow."""

    def __init__(self, buffer: int) -> None:
        self.dropped = 0
        self._queue: asyncio.Queue[Record | None] = asyncio.Queue()
        self._most = buffer

    def offer(self, record: Record) -> None:
        """Take a record if there is room, else count it as dropped."""
        if self._queue.qsize() >= self._most:
            self.dropped += 1
        else:
            self._queue.put_nowait(record)

    def end(self) -> None:
        """Say that no more come."""
        self._queue.put_nowait(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        record = await self._queue.get()
        if record is None:
            self._queue.put_nowait(None)
            raise StopAsyncIteration
        return record
