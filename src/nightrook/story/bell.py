"""Wakes every reader of a feed when there is more to read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class Bell:
    """Counts how often there was more, so that a reader that did not wait cannot miss it."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = False
        """Whether it never rings again."""
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Wake all readers: there is more."""
        self.count += 1
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def end(self) -> None:
        """Wake all readers for the last time: there will be no more."""
        self.ended = True
        self.ring()

    async def wait(self, seen: int) -> None:
        """Wait until the count is greater than `seen`; return at once after the end."""
        import asyncio  # so that what never waits stays quick

        while self.count <= seen and not self.ended:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
