"""The queue of a batch: its source of tasks and the place of results, by default a folder."""

import asyncio
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from nightrook.batches.tasks import BatchTask, dump_task, read_tasks
from nightrook.loops.state import LoopState
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder
from nightrook.model.answer import final_text
from nightrook.model.ending import Ending
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Source
from nightrook.model.price import dollars, nano
from nightrook.prices import PriceBook
from nightrook.runs.crash_recovery import settle
from nightrook.store import batch_folder
from nightrook.store.batch_folder import BatchFolder, BatchResult
from nightrook.store.home import home_folder
from nightrook.store.list import runs_of
from nightrook.store.run_folder import RunFolder
from nightrook.story.story import state_of

_RunsByPart = Mapping[tuple[str, int], Sequence[RunFolder]]
"""Runs by the loop or batch that they belong to and their number in it, the first one first."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A task, with its results before the batch was interrupted."""

    task: BatchTask
    place: tuple[str, int]
    """The name of the batch and the number of the task: kept with each of its runs and loops."""

    earlier: tuple[BatchResult, ...] = ()
    """Results of its earlier runs, or its loop, that left the task undone; the latest is last."""

    loop: str | None = None
    """Loop of the task, if it can be resumed."""


class Queue(Protocol):
    """Source of tasks and place of results; implement it to take tasks from elsewhere."""

    def remaining(self) -> Sequence[Job]:
        """The jobs that are still to do, as far as they are known."""

    async def take(self) -> Job | None:
        """Take the next job; None if there are no more."""

    async def done(self, result: BatchResult) -> None:
        """Store the result of a task."""


class FolderQueue:
    """A queue in a batch's folder: the tasks, and a line for each that is done."""

    def __init__(self, folder: BatchFolder) -> None:
        self.folder = folder
        self._jobs: deque[Job] | None = None

    def tasks(self) -> list[BatchTask]:
        """Return all tasks of the batch."""
        return read_tasks(self.folder.tasks(), str(self.folder.tasks_path))

    def remaining(self) -> Sequence[Job]:
        """Return the tasks without a result, and end the rest of their processes."""
        if self._jobs is None:
            self._jobs = deque(self._open_jobs())
        return tuple(self._jobs)

    async def take(self) -> Job | None:
        """Take the next task that has no result."""
        if self._jobs is None:
            await asyncio.to_thread(self.remaining)
        return self._jobs.popleft() if self._jobs else None

    async def done(self, result: BatchResult) -> None:
        """Write a result to disk."""
        self.folder.add_result(result)

    def _open_jobs(self) -> Iterator[Job]:
        done = {result.id for result in self.folder.results()}
        started = _runs_by_part(self.folder.home)
        loops = dict(loops_of(self.folder))
        for number, task in enumerate(self.tasks(), 1):
            if task.id in done:
                continue
            place = (self.folder.name, number)
            loop = loops.get(number)
            if loop is not None:
                earlier = [_loop_so_far(task, loop, started)]
            else:
                earlier = [run_result(task, folder) for folder in started.get(place, ())]
            yield Job(
                task=task,
                place=place,
                earlier=tuple(earlier),
                loop=None if loop is None else loop.name,
            )


def loops_of(folder: BatchFolder) -> Iterator[tuple[int, LoopFolder]]:
    """The loops of a batch by the number of their task."""
    for loop in LOOP_FOLDERS.all(folder.home):
        with suppress(NightrookError):  # a damaged loop of another batch, as far as we know
            place = loop.plan().batch
            if place is not None and place[0] == folder.name:
                yield place[1], loop


def new_queue(tasks: list[BatchTask], *, home: Path | None = None) -> FolderQueue:
    """Make the folder of a new batch; paths are kept absolute."""
    lines = b"".join(dump_task(_absolute(task)) for task in tasks)
    return FolderQueue(batch_folder.create(home or home_folder(), lines))


def find_queue(name: str, *, home: Path | None = None) -> FolderQueue:
    """Find a batch by its name or the unique beginning of it."""
    return FolderQueue(batch_folder.find(home or home_folder(), name))


def run_result(task: BatchTask, folder: RunFolder) -> BatchResult:
    """The result of a run that was read from its folder."""
    verdict, info = settle(folder), folder.info()
    state = state_of(folder, info, PriceBook()) if info else None
    if verdict is None or info is None:
        return BatchResult(id=task.id, ok=False, status="incomplete", exit_code=3, duration_s=0)
    return BatchResult.of(
        task.id,
        verdict.ending(info),
        run=folder.name,
        spent_usd=verdict.spent_usd,
        cost_source=verdict.cost_source,
        answer=None if state is None else final_text(state),
    )


def loop_result(task: BatchTask, name: str, state: LoopState) -> BatchResult:
    """The result of a task that is a loop."""
    last = state.last
    ending = state.ending or Ending.of_loop("interrupted", state.reason, duration_s=0.0)
    return BatchResult.of(
        task.id,
        ending,
        loop=name,
        run=last.report.run if last else None,
        spent_usd=state.known_usd,
        cost_source=_cost_source(state),
        answer=last.report.answer if last else None,
    )


def _cost_source(state: LoopState) -> Source:
    """Source of a loop's cost; a loop without runs has a certain cost."""
    if not state.attempts:
        return "native"
    return "unknown" if state.unknown_costs else state.cost_source


def _loop_so_far(task: BatchTask, loop: LoopFolder, started: _RunsByPart) -> BatchResult:
    """The result of a loop so far, with the cost of a run that was cut short."""
    state = loop.state()
    if state is None:
        return BatchResult(id=task.id, ok=False, status="interrupted", exit_code=130, duration_s=0)
    result = loop_result(task, loop.name, state)
    place = (loop.name, state.pending.id) if state.pending else ("", 0)
    uncounted = [run_result(task, folder) for folder in started.get(place, ())]
    costs = (each.spent_usd for each in (result, *uncounted))
    spent = sum(nano(cost) for cost in costs if cost is not None)
    return msgspec.structs.replace(result, spent_usd=dollars(spent))


def _absolute(task: BatchTask) -> BatchTask:
    run = msgspec.structs.replace(task.run, cwd=os.path.abspath(task.run.cwd))
    return msgspec.structs.replace(task, run=run)


def _runs_by_part(home: Path) -> _RunsByPart:
    by_part: dict[tuple[str, int], list[RunFolder]] = {}
    for folder, info, _ in runs_of(home):
        if info is not None and info.loop is not None and info.iteration is not None:
            by_part.setdefault((info.loop, info.iteration), []).insert(0, folder)
    return by_part
