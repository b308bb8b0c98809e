"""Ctrl-C, SIGTERM and SIGHUP: they stop a run, or remove a display from the screen."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import (
    contextmanager,
)
from itertools import count
from types import FrameType

from nightrook.display.screen import Echo

_LAST_HANDLED = 2  # Ctrl-C: the first asks, the second kills
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_interrupts(stop: Callable[[signal.Signals], None], echo: Echo) -> None:
    """Call `stop` at each Ctrl-C, SIGTERM and SIGHUP; the third Ctrl-C ends rook at once.

    The second one switches the terminal's echo on, as nothing can be done at the third: it ends
    rook even while much is left to read or the screen is stalled. The recorder then ends the
    agent, and the next command that looks at the run judges it.
    """
    loop = asyncio.get_running_loop()
    presses = count(1)

    def interrupt() -> None:
        if next(presses) == _LAST_HANDLED:
            echo.keep_on()  # guards: echo-before-end
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # guards: third-interrupt
        stop(signal.SIGINT)

    loop.add_signal_handler(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)


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
