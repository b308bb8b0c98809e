"""Whose turn it is on the screen: the lines of the run, or a question to whoever watches."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class Turns:
    """Gives a question the screen, once the record is shown that it came with."""

    def __init__(self) -> None:
        self._pause: Callable[[], None] | None = None
        self._resume: Callable[[], None] | None = None
        self._written: Callable[[], Awaitable[None]] | None = None
        self._moved = asyncio.Event()
        self._seq = -1

    def share(
        self,
        pause: Callable[[], None],
        resume: Callable[[], None],
        written: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Share the screen with whoever shows the run, and says so with `told`.

        `pause` has it hold its lines back and take a status line away, `resume` the contrary;
        `written` waits until what was told is on the screen.
        """
        self._pause, self._resume, self._written = pause, resume, written

    def told(self, seq: int) -> None:
        """Note that a record was shown."""
        self._seq = seq
        self._moved.set()

    @asynccontextmanager
    async def paused(self, seq: int | None) -> AsyncIterator[None]:
        """Wait until a record is shown, and have nothing shown while the block lasts."""
        if self._pause is None or self._resume is None:
            yield
            return
        while seq is not None and self._seq < seq:
            self._moved.clear()
            await self._moved.wait()
        if self._written is not None:
            await self._written()
        self._pause()
        try:
            yield
        finally:
            self._resume()
