"""That there is more: one bell for all who read a run, which none of them has to hear in time."""

import asyncio


class News:
    """Counts how often there was more, and wakes those who wait for it."""

    def __init__(self) -> None:
        self.count = 0
        self._over = False
        self._waiting: list[asyncio.Future[None]] = []

    def tell(self) -> None:
        """There is more: wake whoever waits."""
        self.count += 1
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def end(self) -> None:
        """There will be no more: nobody waits from now on."""
        self._over = True
        self.tell()

    async def wait(self, seen: int) -> None:
        """Wait until there is more than at that count; return at once if there is or none comes."""
        while self.count <= seen and not self._over:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
