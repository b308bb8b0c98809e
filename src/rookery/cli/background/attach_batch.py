"""`rook attach BATCH`: follows a batch that another process runs, result by result."""

import asyncio
import sys

import msgspec

from rookery.batches.listing import ListedBatch, read_batch
from rookery.cli.background.following import follow, report_log
from rookery.cli.commands.lists.batches import show_batch
from rookery.cli.live.output import is_gone, put, put_json
from rookery.cli.options.defaults import print_project_settings
from rookery.cli.options.view_options import hold_messages
from rookery.config.command_options import AttachOptions
from rookery.config.options import ViewOptions
from rookery.display.loops.batch import result_line
from rookery.store import batch_folder
from rookery.store.batch_folder import BatchFolder
from rookery.store.home import home_folder

_POLL_S = 0.2  # between two looks at results that do not grow
_FAILED, _OVER_BUDGET, _INTERRUPTED = 1, 5, 130


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
        show_batch(folder.name)
    report_log(folder.path)
    return _exit_code(folder, batch)


async def _follow(folder: BatchFolder, view_options: ViewOptions, *, from_now: bool) -> None:
    """Print the results until no process runs the batch any more."""
    log = folder.new_results()
    if from_now:
        log.read()
    while True:
        is_running = folder.is_running  # first, so that all results are read
        for result in log.read():
            if view_options.lively:
                put(sys.stdout, result_line(result))
        if is_gone(sys.stdout):
            raise BrokenPipeError  # without an output there is nothing to do
        if not is_running:
            return
        await asyncio.sleep(_POLL_S)


def _exit_code(folder: BatchFolder, batch: ListedBatch) -> int:
    """The exit code of `rook batch` for a batch that has ended like this one."""
    if batch.done < len(batch.tasks):
        budget = folder.terms().max_cost
        is_over = budget is not None and (batch.spent_usd or 0.0) >= budget
        return _OVER_BUDGET if is_over else _INTERRUPTED
    return _FAILED if batch.failed else 0
