"""Writes apart from the event loop: a reader that is stalled must not stall the run."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, Self, TypeVar

_MOST_WAITING = 1 << 20  # characters or bytes; who has more to say waits

Piece = TypeVar("Piece", str, bytes)


class Writer(Generic[Piece]):
    """Hands lines or bytes to an output in another thread, as many at once as have gathered.

    Use it in `async with`: leaving the block waits until everything is written. An error in
    writing is raised at the next call, or when the block is left.
    """

    def __init__(self, put: Callable[[list[Piece]], None]) -> None:
        self._put: Callable[[list[Piece]], None] = put
        self._pieces: list[Piece] = []
        self._size = 0
        self._frame: Callable[[], None] | None = None
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._closing = False
        self._writing = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._closing = True
        self._news.set()
        await self._task

    async def put(self, pieces: Sequence[Piece]) -> None:
        """Have pieces written; waits only while too much is waiting."""
        if not pieces:
            return
        self._raise()
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        self._news.set()
        while self._size > _MOST_WAITING:
            self._room.clear()
            await self._room.wait()
            self._raise()

    async def written(self) -> None:
        """Wait until everything is written that was put before."""
        while self._pieces or self._writing:
            self._room.clear()
            await self._room.wait()
            self._raise()

    def frame(self, draw: Callable[[], None]) -> None:
        """Have something drawn after what waits; of several only the last is."""
        self._raise()
        self._frame = draw
        self._news.set()

    def _raise(self) -> None:
        if self._task is not None and self._task.done():
            self._task.result()

    async def _write(self) -> None:
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                pieces, frame = self._pieces, self._frame
                self._pieces, self._size, self._frame = [], 0, None
                self._room.set()
                if pieces or frame is not None:
                    self._writing = True
                    await asyncio.to_thread(self._do, pieces, frame)
                    self._writing = False
                    self._room.set()
                elif self._closing:
                    return
                if self._closing:
                    self._news.set()
        finally:
            self._room.set()

    def _do(self, pieces: list[Piece], frame: Callable[[], None] | None) -> None:
        if pieces:
            self._put(pieces)
        if frame is not None:
            frame()
