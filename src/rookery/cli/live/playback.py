"""Replays a recording at its own pace, and cleans up when it is stopped."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rookery.cli.live.output import FRAME_S

_LONGEST_PAUSE_S = 5.0  # waiting agents are not worth watching


class Pace:
    """Waits between two moments of a recording, at a multiple of its speed."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._before: float | None = None

    def wait(self, at: float | None, tick: Callable[[float], None] = lambda _now: None) -> None:
        """Wait until this moment of the recording; `tick` is called with the time meanwhile."""
        if at is None:
            return
        now, self._before = self._before, at
        if now is None:
            tick(at)
            return
        rest = min(max(0.0, at - now) / self._speed, _LONGEST_PAUSE_S)
        while rest > 0:
            step = min(rest, FRAME_S)
            tick(now)
            time.sleep(step)
            now, rest = now + step * self._speed, rest - step


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """End the block on SIGTERM and SIGHUP as Ctrl-C does, so that nothing is left on a screen."""
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
