"""`rook attach BATCH`: follows a batch that another process runs, with the table of its tasks."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

import msgspec

from nightrook.batches.listing import ListedBatch, read_batch
from nightrook.batches.queue import FolderQueue
from nightrook.cli.options.defaults import print_project_settings
from nightrook.cli.options.view_options import hold_messages
from nightrook.cli.terminal.attached_run import follow, report_log
from nightrook.cli.terminal.batch_view import RunningTable, show_batch
from nightrook.cli.terminal.output import is_gone, put, put_json
from nightrook.config.command_options import AttachOptions
from nightrook.config.options import ViewOptions
from nightrook.display.batches import ResultLines, RunningTask
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money
from nightrook.model.status import BATCH_EXIT_CODES
from nightrook.store import batch_folder
from nightrook.store.batch_folder import BatchFolder, BatchResult
from nightrook.store.home import home_folder

_POLL_S = 0.2  # between two looks at results that do not grow
_LOOK_S, _REST = 1.0, 10  # between two looks at all tasks: at most a tenth of the time is spent


def attach_batch(name: str, options: AttachOptions, view_options: ViewOptions) -> int:
    """Show each result of a batch as it comes, and at the end its table; return its exit code."""
    folder = batch_folder.find(home_folder(), name)
    hold_messages(view_options)
    print_project_settings()
    if options.stop:
        folder.request_stop()
    following = _follow(folder, view_options, from_now=options.from_now)
    follow(following, what="batch", name=folder.name)
    batch = read_batch(folder)
    if view_options.json:
        put_json(sys.stdout, msgspec.json.encode(batch))
    else:
        show_batch(folder.path)
    report_log(folder.path)
    return _exit_code(folder, batch)


async def _follow(folder: BatchFolder, view_options: ViewOptions, *, from_now: bool) -> None:
    """Print the results until no process runs the batch any more."""
    log, running = folder.new_results(), _Running(folder)
    if from_now:
        running.leave_out(log.read())
    lines = ResultLines(task.id for task in FolderQueue(folder).tasks())
    async with running.shown(RunningTable(running.tasks), view_options) as table:
        while True:
            is_running = folder.is_running  # first, so that all results are read
            results = log.read()
            running.leave_out(results)
            for result in results if view_options.lively else ():
                with table.hidden():
                    put(sys.stdout, lines.line(result))
            if is_gone(sys.stdout):
                raise BrokenPipeError  # without an output there is nothing to do
            if not is_running:
                return
            await asyncio.sleep(_POLL_S)


class _Running:
    """The running tasks of a batch, read from its folder repeatedly."""

    def __init__(self, folder: BatchFolder) -> None:
        self._folder = folder
        self._tasks: list[RunningTask] = []
        self._ended: set[str] = set()

    def tasks(self) -> list[RunningTask]:
        """The tasks that were running at the last look and have not ended since."""
        return [task for task in self._tasks if task.id not in self._ended]

    def leave_out(self, results: Iterable[BatchResult]) -> None:
        """Leave out tasks that have ended."""
        self._ended.update(result.id for result in results)

    @asynccontextmanager
    async def shown(
        self, table: RunningTable, view_options: ViewOptions
    ) -> AsyncIterator[RunningTable]:
        """Show the table inside the block, unless the options ask for the end alone."""
        if not view_options.lively:
            yield table
            return
        reading = asyncio.create_task(self._read())
        try:
            with table:
                yield table
        finally:
            reading.cancel()

    async def _read(self) -> None:
        while True:
            started = time.monotonic()
            with suppress(NightrookError, OSError):  # it was removed: no look is needed any more
                batch = await asyncio.to_thread(read_batch, self._folder)
                self._tasks = _running_of(batch, time.time())
            await asyncio.sleep(max(_LOOK_S, _REST * (time.monotonic() - started)))


def _running_of(batch: ListedBatch, now: float) -> list[RunningTask]:
    return [
        RunningTask(
            id=task.id,
            name=task.loop or task.run,
            since=now - (task.duration_s or 0.0),
            spent=Money(task.spent_usd, task.cost_source),
            prompt=task.prompt,
        )
        for task in batch.tasks
        if task.status == "running"
    ]


def _exit_code(folder: BatchFolder, batch: ListedBatch) -> int:
    """The exit code of `rook batch` for a batch that has ended like this one."""
    if batch.done < len(batch.tasks):
        budget = folder.terms().max_cost
        is_over = budget is not None and (batch.spent_usd or 0.0) >= budget
        return BATCH_EXIT_CODES["over_budget" if is_over else "interrupted"]
    return BATCH_EXIT_CODES["failed" if batch.failed else "success"]
