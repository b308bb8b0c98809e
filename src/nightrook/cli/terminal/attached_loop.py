"""`rook attach LOOP`: follows a loop that another process runs, iteration by iteration."""

import asyncio
import sys
from collections import deque
from collections.abc import Sequence

import msgspec

from nightrook.cli.ci_output import CiOutput
from nightrook.cli.options.defaults import print_project_settings
from nightrook.cli.options.view_options import hold_messages
from nightrook.cli.terminal.attached_run import follow, report_log, show_attached
from nightrook.cli.terminal.ending import put_answer
from nightrook.cli.terminal.loop_view import LoopOutput, put_end, put_note
from nightrook.cli.terminal.output import is_gone, put_json
from nightrook.config.command_options import AttachOptions
from nightrook.config.options import EndOptions, ViewOptions
from nightrook.display.loops import loop_json, read_loop
from nightrook.loops.events import AGENT_EVENTS, IterationFinished, IterationStarted, LoopEvent
from nightrook.loops.loop_runs import run_folder
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.status import EXIT_CODES, LOOP_EXIT_CODES
from nightrook.runs.attached import AttachedRun
from nightrook.store.home import home_folder
from nightrook.store.run_folder import RunFolder

_POLL_S = 0.2  # between two looks at a log that does not grow


def attach_loop(name: str, options: AttachOptions, view_options: ViewOptions) -> int:
    """Show a loop to its end; return its exit code."""
    folder = LOOP_FOLDERS.find(home_folder(), name)
    hold_messages(view_options)
    print_project_settings()
    if options.stop:
        folder.request_stop()
    following = _Following(folder, view_options).follow(from_now=options.from_now)
    follow(following, what="loop", name=folder.name)
    _print_end(folder, view_options)
    report_log(folder.path)
    state = folder.state()
    if state is None or state.end is None:  # cut off
        return EXIT_CODES["incomplete"]
    return LOOP_EXIT_CODES[state.end]


def _print_end(folder: LoopFolder, view_options: ViewOptions) -> None:
    """Print the table of the runs and the loop's outcome, or the output that the options select."""
    view = read_loop(folder, home_folder())
    last = view.state.last if view.state else None
    if view_options.json:
        put_json(sys.stdout, msgspec.json.encode(loop_json(folder)))
    elif not view_options.quiet:
        put_end(view)
    elif last is not None and last.report.answer:
        put_answer(sys.stdout, last.report.answer)


class _Following:
    """Shows the steps of a loop from its log, and below the heading of an iteration its run.

    The runs of iterations that had ended before are left out.
    """

    def __init__(self, folder: LoopFolder, view_options: ViewOptions) -> None:
        self._folder = folder
        self._view_options = view_options
        self._log = folder.new_events()
        self._unread: deque[LoopEvent] = deque()
        self._is_over = False
        ci = CiOutput(EndOptions(no_ci=True), lively=False)
        self._output = LoopOutput(folder.plan(), view_options, ci)

    async def follow(self, *, from_now: bool) -> None:
        """Show the loop until it has ended."""
        self._read()
        past, self._unread = self._unread, deque()
        current = None if self._is_over else _current_iteration(past)
        for event in past:
            if event is current or not from_now:
                await self._show(event)
            if event is current:
                await self._show_run(event.attempt, from_now=from_now)
        while self._unread or not self._is_over:
            if not self._unread:
                await asyncio.sleep(_POLL_S)
                self._read()
                continue
            event = self._unread.popleft()
            await self._show(event)
            if isinstance(event, IterationStarted):
                await self._show_run(event.attempt)
        self._output.close()

    def _read(self) -> None:
        is_running = self._folder.is_running  # first, so that all events of a loop's end are read
        events = self._log.read()
        self._unread += (event for event in events if not isinstance(event, AGENT_EVENTS))
        self._is_over = not is_running

    async def _show(self, event: LoopEvent) -> None:
        if self._view_options.lively:
            await self._output.show(event)
        if is_gone(sys.stdout):
            raise BrokenPipeError  # without an output there is nothing to do

    async def _show_run(self, attempt: int, *, from_now: bool = False) -> None:
        """Show the run of an iteration to its end; nothing if it could not start."""
        while self._view_options.lively:
            is_last_look = bool(self._unread) or self._is_over
            home, loop = home_folder(), self._folder.name
            folder = await asyncio.to_thread(run_folder, home, loop, attempt)
            if folder is not None:
                await self._show_to_its_end(folder, from_now=from_now)
            if folder is not None or is_last_look:
                return
            await asyncio.sleep(_POLL_S)
            self._read()

    async def _show_to_its_end(self, folder: RunFolder, *, from_now: bool) -> None:
        try:
            await show_attached(AttachedRun(folder), self._view_options, from_now=from_now)
        except NightrookError as error:  # the loop may continue all the same
            put_note(f"WARNING: {safe_line(str(error))}")


def _current_iteration(events: Sequence[LoopEvent]) -> IterationStarted | None:
    """The iteration whose run has not ended yet."""
    steps = [e for e in events if isinstance(e, (IterationStarted, IterationFinished))]
    last = steps[-1] if steps else None
    return last if isinstance(last, IterationStarted) else None
