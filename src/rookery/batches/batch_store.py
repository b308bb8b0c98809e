"""The folder of a batch, beside those of runs and loops: what was asked, and what is done."""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rookery.batches.tasks import BatchResult, BatchTask, Job, read_tasks
from rookery.loops import store
from rookery.loops.events import EXIT_CODES
from rookery.loops.state import LoopState
from rookery.loops.store import LoopFolder
from rookery.model.completion import final_text
from rookery.model.errors import DamagedRunError, RookeryError
from rookery.model.price import dollars, nano
from rookery.prices import PriceBook
from rookery.runs.healing import state_of
from rookery.runs.home import home_folder
from rookery.runs.others import settle
from rookery.store import runs
from rookery.store.files import Folder
from rookery.store.names import is_name, new_names, pick
from rookery.store.runs import RunFolder

PREFIX = "batch-"
"""What the name of every batch begins with."""

_BATCHES = "batches"
_TASKS, _TERMS, _RESULTS, _LOCK = "tasks.jsonl", "batch.json", "results.jsonl", "lock"

_encode = msgspec.json.Encoder().encode


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms a batch is done: `batch.json`; they hold as well when it goes on."""

    format: int = 1
    jobs: int = 2
    max_cost: float | None = None


class BatchFolder:
    """A queue in a folder: the tasks, and a line for each that is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._jobs: deque[Job] | None = None

    @property
    def name(self) -> str:
        """What the batch is called."""
        return self.path.name

    def tasks(self) -> list[BatchTask]:
        """Everything that was asked."""
        return read_tasks(self._read(_TASKS) or b"", str(self.path / _TASKS))

    def agree(self, told: Mapping[str, Any]) -> Terms:
        """Keep the terms that are told now; give all that hold, those told before too."""
        data = self._read(_TERMS)
        try:
            before = Terms() if data is None else msgspec.json.decode(data, type=Terms)
        except msgspec.DecodeError as error:
            raise DamagedRunError(str(self.path / _TERMS), "does not say what it should") from error
        terms = msgspec.structs.replace(before, **told)
        with Folder.kept(self.path) as folder:
            folder.replace(_TERMS, _encode(terms) + b"\n")
        return terms

    def results(self) -> list[BatchResult]:
        """What was done so far; a line that a crash tore is left out."""
        found = []
        for line in (self._read(_RESULTS) or b"").split(b"\n"):
            with contextlib.suppress(msgspec.DecodeError):
                found.append(msgspec.json.decode(line, type=BatchResult))
        return found

    def left(self) -> Sequence[Job]:
        """The tasks that have no result yet; what is left of their processes is ended."""
        if self._jobs is None:
            self._jobs = deque(self._open_jobs())
        return tuple(self._jobs)

    async def take(self) -> Job | None:
        """The next task that has no result yet."""
        if self._jobs is None:
            await asyncio.to_thread(self.left)
        return self._jobs.popleft() if self._jobs else None

    async def done(self, result: BatchResult) -> None:
        """Append a result, on disk before anybody hears of it."""
        with Folder.kept(self.path) as folder:
            fd = folder.append(_RESULTS)
        try:
            os.write(fd, _encode(result) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who does this batch; a RookeryError says that somebody else does."""
        with Folder.kept(self.path) as folder, folder.lock(_LOCK) as is_ours:
            if not is_ours:
                raise RookeryError(f"batch {self.name!r} is being done: wait for its end")
            yield

    def _open_jobs(self) -> Iterator[Job]:
        done = {result.id for result in self.results()}
        begun = self._runs()
        loops = self._loops()
        for number, task in enumerate(self.tasks(), 1):
            if task.id in done:
                continue
            loop = loops.get(number)
            cut = [self._of_run(task, folder) for folder in begun.get((self.name, number), ())]
            if loop is not None:
                cut = [self._of_loop(task, loop, begun)]
            yield Job(
                task=task,
                place=(self.name, number),
                cut_off=tuple(cut),
                loop=None if loop is None else loop.name,
            )

    def _runs(self) -> Mapping[tuple[str, int], list[RunFolder]]:
        """Runs by the loop or batch that they are part of and their number, the first one first."""
        found: dict[tuple[str, int], list[RunFolder]] = {}
        for folder in reversed(runs.runs(self._home)):
            with contextlib.suppress(RookeryError):  # a folder that tells nothing is not ours
                info = folder.info()
                if info is not None and info.loop is not None and info.iteration is not None:
                    found.setdefault((info.loop, info.iteration), []).append(folder)
        return found

    def _loops(self) -> Mapping[int, LoopFolder]:
        """The loops of this batch by the number of their task."""
        found: dict[int, LoopFolder] = {}
        for folder in store.loops(self._home):
            with contextlib.suppress(RookeryError):
                place = folder.plan().batch
                if place is not None and place[0] == self.name:
                    found[place[1]] = folder
        return found

    def _of_run(self, task: BatchTask, folder: RunFolder) -> BatchResult:
        """What became of a run that was cut off with the batch."""
        verdict, info = settle(folder), folder.info()
        state = state_of(folder, info, PriceBook()) if info else None
        if verdict is None or info is None:
            return BatchResult(id=task.id, ok=False, status="incomplete", exit_code=3, duration_s=0)
        return BatchResult(
            id=task.id,
            ok=verdict.status == "success",
            status=verdict.status,
            exit_code=verdict.exit_code,
            sentence=verdict.sentence,
            run=folder.name,
            spent_usd=verdict.spent_usd,
            cost_source=verdict.cost_source,
            duration_s=verdict.ended_at - info.started_at,
            answer=None if state is None else final_text(state),
        )

    def _of_loop(
        self, task: BatchTask, loop: LoopFolder, begun: Mapping[tuple[str, int], list[RunFolder]]
    ) -> BatchResult:
        """What became of a loop so far; a run of it that was cut off had spent money, too."""
        state = loop.state()
        if state is None:
            return BatchResult(
                id=task.id, ok=False, status="interrupted", exit_code=130, duration_s=0
            )
        result = loop_result(task, loop.name, state)
        place = (loop.name, state.begun.id) if state.begun else ("", 0)
        cut = [self._of_run(task, folder) for folder in begun.get(place, ())]
        spent = sum(nano(each.spent_usd) for each in (result, *cut) if each.spent_usd is not None)
        return msgspec.structs.replace(result, spent_usd=dollars(spent))

    @property
    def _home(self) -> Path:
        return self.path.parent.parent

    def _read(self, name: str) -> bytes | None:
        with Folder.kept(self.path) as folder:
            return folder.read(name)


def create(tasks: list[BatchTask], *, home: Path | None = None) -> BatchFolder:
    """Make the folder of a new batch; paths are kept absolute."""
    path = Path(os.path.abspath(home or home_folder()))
    whole = [msgspec.structs.replace(task, cwd=os.path.abspath(task.cwd)) for task in tasks]
    with Folder.made(path) as above, above.own(_BATCHES) as others:
        name = next(PREFIX + name for name in new_names() if others.make(PREFIX + name))
        with others.own(name) as folder:
            folder.replace(_TASKS, b"".join(_encode(task) + b"\n" for task in whole))
    return BatchFolder(path / _BATCHES / name)


def find(name: str, *, home: Path | None = None) -> BatchFolder:
    """The batch of that name, or the only one whose name begins so."""
    path = Path(os.path.abspath(home or home_folder()))
    folder = Folder.at(path, _BATCHES)
    known: list[str] = []
    if folder is not None:
        with folder:
            known = [found for found in folder.folders() if is_name(found)]
    full = name if name.startswith(PREFIX) else PREFIX + name
    return BatchFolder(path / _BATCHES / pick(full, known, what="batch"))


def loop_result(task: BatchTask, name: str, state: LoopState) -> BatchResult:
    """What became of a task that is a loop."""
    last, end = state.last, state.end or "interrupted"
    return BatchResult(
        id=task.id,
        ok=end == "done",
        status=end,
        exit_code=EXIT_CODES[end],
        sentence=state.reason,
        loop=name,
        run=last.report.run if last else None,
        spent_usd=state.known_usd,
        cost_source="unknown" if state.unknown_costs else state.cost_source,
        duration_s=state.elapsed_s(state.started_at),
        answer=last.report.answer if last else None,
    )
