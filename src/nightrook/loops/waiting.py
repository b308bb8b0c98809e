"""Waits of a loop: until a time of day, at most until its own time is up or it is stopped.

Two clocks are read. Waits end by the wall clock, because a provider announces a time of day; it is
read repeatedly, since the machine may sleep or its clock be set. How long the loop has run is
measured by a steady clock, which never runs backwards and counts time asleep.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from nightrook.loops.events import LoopEvent, Resumed, Waiting
from nightrook.loops.state import Wait
from nightrook.model.durations import elapsed_s

_READ_CLOCK_S = 30.0
_REPEAT_S = 600.0
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

Sleep = Callable[[float], Awaitable[None]]


async def wait_until(
    wait: Wait,
    *,
    now: Callable[[], float],
    time_left_s: Callable[[], float],
    sleep: Sleep,
    emit: Callable[[LoopEvent], None],
    stopping: asyncio.Event,
) -> bool:
    """Wait to the end and report it from time to time; return False if the loop is stopped.

    When the loop's time is used up the wait is over, however far the wall clock was set back.
    """
    reported: float | None = None
    while (moment := now()) < wait.until and (left_s := time_left_s()) > 0:
        if stopping.is_set():
            return False
        if reported is None or moment - reported >= _REPEAT_S or moment < reported:
            reported = moment
            left = wait.until - moment
            emit(Waiting(at=moment, until=wait.until, left_s=left, reason=wait.reason))
        await _sleep_or_stop(sleep, min(_READ_CLOCK_S, wait.until - moment, left_s), stopping)
    if stopping.is_set():
        return False
    moment = now()
    emit(Resumed(at=moment, waited_s=elapsed_s(wait.since, moment)))
    return True


async def _sleep_or_stop(sleep: Sleep, seconds: float, stopping: asyncio.Event) -> None:
    tasks = (asyncio.ensure_future(sleep(seconds)), asyncio.ensure_future(stopping.wait()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class SteadyClock:
    """Shows the time of day when it is made; from then on nothing can set it."""

    def __init__(self) -> None:
        self._ahead = time.time() - time.clock_gettime(_CLOCK)

    def now(self) -> float:
        """The time on this clock."""
        return time.clock_gettime(_CLOCK) + self._ahead  # guards: steady-clock
