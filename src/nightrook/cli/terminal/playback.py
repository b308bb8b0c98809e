"""Replays a recording at its own pace, and cleans up when it is stopped."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

from nightrook.cli.terminal.output import FRAME_S

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LONGEST_PAUSE_S = 5.0  # waiting agents are not worth watching


class Pace:
    """Waits between two moments of a recording, at a multiple of its speed."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._before: float | None = None
        self._is_stopped = False

    def wait(self, at: float | None, tick: Callable[[float], None] = lambda _now: None) -> None:
        """Wait until this moment of the recording; `tick` is called with the time meanwhile."""
        self._end_if_stopped()
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
            self._end_if_stopped()
            now, rest = now + step * self._speed, rest - step

    def ended_by_signals(self) -> AbstractContextManager[None]:
        """End the block on SIGTERM and SIGHUP as on Ctrl-C, so that nothing is left on a screen."""
        return ended_by_signals(self._stop)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # Python drops what is raised while an object is deleted: then `wait` raises it.
        self._is_stopped = True  # guards: dropped-signal
        raise KeyboardInterrupt

    def _end_if_stopped(self) -> None:
        if self._is_stopped:
            raise KeyboardInterrupt


@contextmanager
def ended_by_signals(stop: Callable[[int, FrameType | None], None] | None = None) -> Iterator[None]:
    """Call `stop`, or raise a KeyboardInterrupt, on SIGTERM and SIGHUP as on Ctrl-C."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    before = {number: old for number, old in before.items() if old != signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop or _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
