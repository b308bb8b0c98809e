"""Makes the report of a run, a loop or a batch, live or from disk, without its secrets."""

import os
import shlex

from nightrook.batches.queue import FolderQueue
from nightrook.display.loops import LoopView, read_loop
from nightrook.display.reports.batch import batch_report
from nightrook.display.reports.loop import loop_report
from nightrook.display.reports.report import Report, cleaned
from nightrook.display.reports.run import run_report
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.errors import NightrookError
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.status import BatchEnd
from nightrook.runs.crash_recovery import recovered
from nightrook.store.batch_folder import BatchBusyError, BatchFolder
from nightrook.store.file_names import OUTPUT
from nightrook.store.home import home_folder
from nightrook.store.list import Stored, chosen_run, find, find_run
from nightrook.store.run_folder import RunFolder
from nightrook.story.story import Story, open_story


def find_report(name: str | None) -> Report:
    """Report a run, loop or batch by name; without one, the last run."""
    home = home_folder()
    match None if name is None else find(home, name):
        case Stored("loop", path):
            return report_of_loop(read_loop(LOOP_FOLDERS.at(path), home))
        case Stored("batch", path):
            return _stored_batch(FolderQueue(BatchFolder(path)))
        case _:
            return report_of_run(open_story(recovered(chosen_run(home, name))).read_to_end())


def report_of_run(story: Story) -> Report:
    """Report a run, over or not."""
    info = story.info
    report = run_report(
        story.name,
        story.ending,
        state=story.state,
        agent=info.label if info else None,
        prompt=(info.prompt or shlex.join(info.command)) if info else None,
        answer=story.answer,
        answer_file=_answer_file(story.folder) if story.folder else None,
    )
    return _clean(report)


def report_of_loop(view: LoopView) -> Report:
    """Report a loop."""
    return _clean(loop_report(view, _answer_file_of))


def report_of_batch(
    queue: FolderQueue,
    *,
    end: BatchEnd | None = None,
    duration_s: float | None = None,
    is_running: bool = False,
) -> Report:
    """Report a batch."""
    folder = queue.folder
    return _clean(
        batch_report(
            folder.name,
            folder.results(),
            planned=len(queue.tasks()),
            end=end,
            duration_s=duration_s,
            is_running=is_running,
        )
    )


def _stored_batch(queue: FolderQueue) -> Report:
    try:
        with queue.folder.locked():
            return report_of_batch(queue)
    except BatchBusyError:
        return report_of_batch(queue, is_running=True)


def _answer_file_of(run: str) -> str | None:
    try:
        return _answer_file(find_run(home_folder(), run))
    except NightrookError:
        return None  # it was removed


def _answer_file(folder: RunFolder) -> str | None:
    return str(folder.path / OUTPUT) if folder.has_output else None


def _clean(report: Report) -> Report:
    return cleaned(report, Redactor(os.environ).text)
