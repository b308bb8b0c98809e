"""A loop on the terminal: its steps while it runs, and the table of its runs."""

import asyncio
import os
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from nightrook.cli.ci_output import CiOutput
from nightrook.cli.terminal.ending import install_hints
from nightrook.cli.terminal.output import guarded, put
from nightrook.cli.terminal.temporary_lines import TemporaryLines
from nightrook.config.options import ViewOptions
from nightrook.display import loops
from nightrook.display.console import columns, look_of
from nightrook.display.loops import LoopView, read_loop
from nightrook.display.numbers import clock
from nightrook.display.screen import Echo
from nightrook.display.table import table
from nightrook.loops.events import (
    CheckFinished,
    CheckStarted,
    IterationFinished,
    IterationStarted,
    LoopEvent,
    Waiting,
)
from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import Attempt, Check
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.durations import elapsed_s
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line, suggested
from nightrook.store.home import home_folder

_OUTPUT_LINES = 5
_OUTPUT_LINES_VERBOSE = 40
_OUTPUT_LINES_FULL = 200
_LONGEST_COMMAND = 50
_STATUSES = {"STATUS": loops.iteration_status, "CHECK": loops.check_status}
"""The columns in colour, and the function that gives each its style."""


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

    def add_run(self, attempt: int, show: Callable[[], Awaitable[object]]) -> None:
        """Call `show`, which displays the run of an attempt, when its heading is printed."""
        self._runs[attempt] = asyncio.ensure_future(self._show_run(attempt, show))

    async def _show_run(self, attempt: int, show: Callable[[], Awaitable[object]]) -> None:
        await self._headed[attempt].wait()
        await show()

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
            for line in loops.lines(event, self._plan, self._look.paint()):
                put_note(line)
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


def show_loop(path: Path, *, full: bool = False) -> None:
    """Show a loop; `full` includes the checks of every iteration, not only the last."""
    folder = LOOP_FOLDERS.at(path)
    view, paint = read_loop(folder, home_folder()), look_of(sys.stdout, os.environ).paint()
    put_note(f"{paint('strong', view.name)} · {loops.goal(view.plan)}")
    if view.plan.worktree:
        put_note(loops.worktree(str(folder.worktree), folder.branch))
    if view.state is None:
        put_note("never started")
        return
    put_runs(view)
    for attempt in view.state.attempts if full else view.state.attempts[-1:]:
        _put_checks(attempt, paint, _OUTPUT_LINES_FULL if full else _OUTPUT_LINES)
    put_note(view.activity(paint))
    put_note(view.used)
    _put_hints(view)


def _put_checks(attempt: Attempt, paint: loops.Paint, most: int) -> None:
    """Print the checks of an iteration, and the output of those that failed."""
    for check in attempt.checks:
        put_note(f"iteration {attempt.iteration} · {loops.check_line(check, paint)}")
        put_check_output(check, paint, most)


def put_check_output(check: Check | CheckFinished, paint: loops.Paint, most: int) -> None:
    """Print the last lines of the output of a check that failed."""
    redact = guarded(sys.stdout).redacted  # before lines are left out
    for line in loops.check_output(check, paint, most=most, redact=redact):
        put(sys.stdout, line)


def put_end(view: LoopView) -> None:
    """Print the table of runs, the loop's outcome and usage, and commands to see or resume it."""
    look = look_of(sys.stdout, os.environ)
    if look.terminal:
        put(sys.stdout, "")
    if view.state is None:
        put_note("never started")
        return
    put_runs(view)
    put_note(view.activity(look.paint()))
    put_note(f"{view.used} · {suggested('show', view.name)}")
    _put_hints(view)


def _put_hints(view: LoopView) -> None:
    """Print how to install an agent that the loop did not find, and how to resume the loop."""
    last = view.state.last if view.state else None
    if last is not None and last.report.status == "not_started" and not view.is_running:
        for line in install_hints(last.report.run):
            put_note(line)
    for line in view.resume_hints():
        put_note(line)


def put_runs(view: LoopView) -> None:
    """Print the table of the runs, if there are any."""
    paint = look_of(sys.stdout, os.environ).paint()
    attempts = view.state.attempts if view.state else ()

    def painted(row: int, column: int, text: str) -> str:
        status = _STATUSES.get(view.head[column]) if row < len(attempts) else None
        return text if status is None or not text else paint(status(attempts[row])[1], text)

    for line in loop_table(view.head, view.rows, painted) if view.rows else ():
        put(sys.stdout, line)


def loop_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    cell: Callable[[int, int, str], str] | None = None,
) -> list[str]:
    """Rows in columns, cut to the width of a terminal."""
    look = look_of(sys.stdout, os.environ)
    width = columns(sys.stdout) if look.terminal else None
    return table(head, rows, width=width, paint=look.paint(), cell=cell)


def put_note(line: str) -> None:
    """Print a line of rook itself to standard output."""
    put(sys.stdout, f"{look_of(sys.stdout, os.environ).paint()('prefix', '[rook]')} {line}")
