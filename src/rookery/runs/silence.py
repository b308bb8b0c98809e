"""How long an agent has been silent, on a machine that may sleep meanwhile."""

import time
from collections.abc import Callable

_JUMP_S = 10.0  # a clock that ran on so much longer than the other tells that the machine slept


class Silence:
    """How long nothing was heard of an agent; a sleep of the machine does not count.

    `steady` stands still while the machine sleeps, `wall` does not.
    """

    def __init__(
        self,
        steady: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._steady = steady
        self._wall = wall
        self._heard = steady()
        self._apart = wall() - steady()

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return self._steady() - self._heard

    def end(self) -> None:
        """Hear something: a new silence begins."""
        self._heard = self._steady()

    def look(self) -> None:
        """Begin anew if the machine slept since the last look: nobody could be heard."""
        apart = self._wall() - self._steady()
        if abs(apart - self._apart) > _JUMP_S:
            self.end()
        self._apart = apart
