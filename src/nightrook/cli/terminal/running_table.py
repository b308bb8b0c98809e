"""The live table of a batch: the tasks that are running, on a terminal."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Self

from nightrook.cli.terminal.temporary_lines import TemporaryLines
from nightrook.display.console import columns, height
from nightrook.display.loops.batch import RunningTask, running_lines
from nightrook.display.screen import Echo

_REFRESH_S = 0.5
_FEWEST_LINES = 2


class RunningTable:
    """Shows the running tasks while its block lasts, below the results."""

    def __init__(self, tasks: Callable[[], Sequence[RunningTask]]) -> None:
        self._tasks = tasks
        self.echo = Echo(sys.stderr)
        self._temporary = TemporaryLines(self.echo, every_s=_REFRESH_S)

    def __enter__(self) -> Self:
        self._temporary.start(self._lines)
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.stop()

    def hidden(self) -> AbstractContextManager[None]:
        """Hide the table inside the block, which prints a result."""
        return self._temporary.hidden()

    def _lines(self) -> list[str]:
        return running_lines(
            self._tasks(),
            now=time.time(),
            width=columns(sys.stderr) - 1,
            height=max(_FEWEST_LINES, height(sys.stderr) - 1),
        )
