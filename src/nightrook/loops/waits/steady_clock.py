"""A clock for how long a loop has run: it never runs backwards, and it counts time asleep."""

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SteadyClock:
    """Shows the time of day when it is made; from then on nothing can set it."""

    def __init__(self) -> None:
        self._ahead = time.time() - time.clock_gettime(_CLOCK)

    def now(self) -> float:
        """The time on this clock."""
        return time.clock_gettime(_CLOCK) + self._ahead  # guards: steady-clock
