"""Displays a running loop: its steps, and below the heading of each iteration its run."""

import asyncio
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable

from nightrook.cli.ci_output import CiOutput
from nightrook.cli.commands.loops import put_check_output, say
from nightrook.cli.terminal.foreground import show_run
from nightrook.cli.terminal.output import put
from nightrook.cli.terminal.temporary_lines import TemporaryLines
from nightrook.config.options import ViewOptions
from nightrook.display.console import look_of
from nightrook.display.loops import steps
from nightrook.display.numbers import clock
from nightrook.display.screen import Echo
from nightrook.loops.events import (
    CheckFinished,
    CheckStarted,
    IterationFinished,
    IterationStarted,
    LoopEvent,
    Waiting,
)
from nightrook.loops.plan import LoopPlan
from nightrook.model.durations import elapsed_s
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line
from nightrook.runs.run import Run

_OUTPUT_LINES = 5
_OUTPUT_LINES_VERBOSE = 40
_LONGEST_COMMAND = 50


class LoopOutput:
    """Displays a loop on standard output, step by step."""

    def __init__(self, plan: LoopPlan, view_options: ViewOptions, ci: CiOutput) -> None:
        self._plan = plan
        self._view_options = view_options
        self._ci = ci
        self._look = look_of(sys.stdout, os.environ)
        self._runs: dict[int, asyncio.Task[None]] = {}
        self._headed: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self.echo = Echo(sys.stderr if sys.stderr.isatty() else sys.stdout)
        """The echo of the terminal, which is off while something temporary is shown."""
        self._temporary = TemporaryLines(self.echo, every_s=1.0)

    def watch(self, run: Run, attempt: int) -> None:
        """Display a run as soon as its heading is printed."""
        self._runs[attempt] = asyncio.ensure_future(self._show(run, attempt))

    async def _show(self, run: Run, attempt: int) -> None:
        await self._headed[attempt].wait()
        await show_run(run, self._view_options, None, self.echo)

    async def show(self, event: LoopEvent) -> None:
        """Print a step, after everything that came before it."""
        self._temporary.stop()
        if isinstance(event, IterationFinished) and event.attempt in self._runs:
            await self._runs.pop(event.attempt)
        if isinstance(event, IterationFinished):
            self._ci.close_group()
        if not self._view_options.quiet:
            if isinstance(event, IterationStarted) and self._look.terminal:
                put(sys.stdout, "")
            for line in steps.lines(event, self._plan, self._look.paint()):
                say(line)
            self._show_check(event)
        if isinstance(event, IterationStarted):
            self._ci.open_group(f"iteration {event.iteration}: {event.agent}")
            self._headed[event.attempt].set()
        elif isinstance(event, Waiting):
            until = event.until
            self._show_time(lambda: f"{clock(max(0.0, until - time.time()))} left")

    def _show_check(self, event: LoopEvent) -> None:
        """Show that a check is running, and the output of one that failed."""
        if isinstance(event, CheckStarted):
            started, command = event.at, safe_line(one_line(event.command, _LONGEST_COMMAND))
            self._show_time(lambda: f"check {command}: {clock(elapsed_s(started, time.time()))}")
        elif isinstance(event, CheckFinished):
            most = _OUTPUT_LINES_VERBOSE if self._view_options.verbose else _OUTPUT_LINES
            put_check_output(event, self._look.paint(), most)

    def _show_time(self, text: Callable[[], str]) -> None:
        if not self._view_options.quiet:
            self._temporary.start(lambda: [f"[rook] {text()}"])

    def close(self) -> None:
        """Remove the temporary line."""
        self._temporary.stop()
        self._ci.close_group()
