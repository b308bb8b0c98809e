"""Writes in a separate thread: an output that stalls must not stall the run."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Generic, Self, TypeVar

_MOST_WAITING = 1 << 20  # characters or bytes; a caller that has more to write waits

Piece = TypeVar("Piece", str, bytes)


class Writer(Generic[Piece]):
    """Passes lines or bytes to an output in another thread, as many at once as have gathered.

    Use it in `async with`: leaving the block waits until everything is written, unless the block
    was cancelled. An error in writing is raised at the next call, or when the block is left.
    """

    def __init__(self, put: Callable[[list[Piece]], None]) -> None:
        self._put: Callable[[list[Piece]], None] = put
        self._pieces: list[Piece] = []
        self._size = 0
        self._frame: Callable[[], None] | None = None
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._closing = False
        self._writing = False
        self._thread = _WorkThread()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._closing = True
        self._more.set()
        try:
            await self._task
        finally:
            self._thread.end()

    async def put(self, pieces: Sequence[Piece]) -> None:
        """Write pieces; waits only while too much is waiting."""
        self.add(pieces)
        while self._size > _MOST_WAITING:
            self._room.clear()
            await self._room.wait()
            self._raise()

    def add(self, pieces: Sequence[Piece]) -> None:
        """Write pieces without ever waiting, however much is waiting already."""
        if pieces:
            self._raise()
            self._pieces += pieces
            self._size += sum(map(len, pieces))
            self._more.set()

    async def written(self) -> None:
        """Wait until everything is written that was put before."""
        while self._pieces or self._writing:
            self._room.clear()
            await self._room.wait()
            self._raise()

    def frame(self, draw: Callable[[], None]) -> None:
        """Draw something after the pending writes; only the last of several is drawn."""
        self._raise()
        self._frame = draw
        self._more.set()

    def _raise(self) -> None:
        if self._task is not None and self._task.done():
            self._task.result()

    async def _write(self) -> None:
        try:
            while True:
                await self._more.wait()
                self._more.clear()
                pieces, frame = self._pieces, self._frame
                self._pieces, self._size, self._frame = [], 0, None
                self._room.set()
                if pieces or frame is not None:
                    self._writing = True
                    await self._thread.do(lambda: self._do(pieces, frame))  # noqa: B023
                    self._writing = False
                    self._room.set()
                elif self._closing:
                    return
                if self._closing:
                    self._more.set()
        finally:
            self._room.set()

    def _do(self, pieces: list[Piece], frame: Callable[[], None] | None) -> None:
        if pieces:
            self._put(pieces)
        if frame is not None:
            frame()


class _WorkThread:
    """A thread that does one thing after another; the process never waits for it to end."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], None], asyncio.Future[None]] | None]
        self._jobs = SimpleQueue()
        self._started = False

    async def do(self, work: Callable[[], None]) -> None:
        """Do something in the thread and wait for it; its exception is raised here."""
        if not self._started:
            self._started = True
            Thread(target=self._run, daemon=True).start()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._jobs.put((work, done))
        await done

    def end(self) -> None:
        """End the thread after its current action."""
        if self._started:
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, done = job
            error: BaseException | None = None
            try:
                work()
            except BaseException as raised:
                error = raised
            with suppress(RuntimeError):  # the loop was closed meanwhile: nothing waits for this
                done.get_loop().call_soon_threadsafe(_settle, done, error)


def _settle(done: asyncio.Future[None], error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
