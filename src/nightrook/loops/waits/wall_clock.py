"""Waits by the wall clock, which is read repeatedly: the machine may sleep meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable

from nightrook.loops.events import LoopEvent, Resumed, Waiting
from nightrook.loops.state import Wait
from nightrook.model.durations import elapsed_s

_READ_CLOCK_S = 30.0
_REPEAT_S = 600.0

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
