"""Lines on a terminal that are refreshed until they are removed: running tasks, a wait, a check."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from nightrook.cli.terminal.output import go_unseen
from nightrook.display.cells import fit
from nightrook.display.console import columns, look_of
from nightrook.display.screen import Echo, Screen


class TemporaryLines:
    """Lines at the end of standard error, if that is a terminal; typed keys do not tear them."""

    def __init__(self, echo: Echo, *, every_s: float) -> None:
        self._echo = echo
        self._every_s = every_s
        self._screen: Screen | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, lines: Callable[[], Sequence[str]]) -> None:
        """Show the lines now and refresh them until `stop`."""
        if look_of(sys.stderr, os.environ).terminal:
            screen = self._screen = Screen(sys.stderr, _columns, self._echo)
            self._task = asyncio.create_task(self._refresh(screen, lines))

    def stop(self) -> None:
        """Remove the lines."""
        screen, self._screen = self._screen, None
        if self._task is not None:
            self._task.cancel()
        if screen is not None:
            _try(screen.close)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the lines inside the block, which writes to the same terminal."""
        screen = self._screen
        if screen is None:
            yield
            return
        _try(screen.pause)
        try:
            yield
        finally:
            _try(screen.resume)

    async def _refresh(self, screen: Screen, lines: Callable[[], Sequence[str]]) -> None:
        while True:
            status = "\n".join(fit(line, _columns() - 1) for line in lines())
            _try(partial(screen.status, status))
            await asyncio.sleep(self._every_s)


def _columns() -> int:
    return columns(sys.stderr)


def _try(write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:  # the terminal is gone
        go_unseen(sys.stderr, error)
