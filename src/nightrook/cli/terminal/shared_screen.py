"""The screen that the lines of a run and questions to the user share: one of them at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class SharedScreen:
    """Lets a question use the screen, once the record that it came with is shown."""

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
        """Share the screen with a view that reports each record that it shows by `shown`.

        `pause` makes the view hold its lines back and hide its status line, `resume` undoes that;
        `written` waits until what was shown is on the screen.
        """
        self._pause, self._resume, self._written = pause, resume, written

    def shown(self, seq: int) -> None:
        """Record that a record was shown."""
        self._seq = seq
        self._moved.set()

    @asynccontextmanager
    async def paused(self, seq: int | None) -> AsyncIterator[None]:
        """Wait until a record is shown; the view shows nothing while the block lasts."""
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
