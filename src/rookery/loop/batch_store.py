"""The folder of a batch, beside those of runs and loops: what was asked, and what is done."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rookery.core.errors import DamagedRunError, RookeryError, RunFolderError
from rookery.folder import runs
from rookery.folder.files import Folder
from rookery.folder.names import is_name, new_names, pick
from rookery.loop import store
from rookery.loop.tasks import BatchResult, BatchTask, Job, read_tasks
from rookery.run.places import home_folder

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
        self._jobs: Iterator[Job] | None = None

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
        with self._opened() as folder:
            folder.replace(_TERMS, _encode(terms) + b"\n")
        return terms

    def results(self) -> list[BatchResult]:
        """What was done so far; a line that a crash tore is left out."""
        found = []
        for line in (self._read(_RESULTS) or b"").split(b"\n"):
            with contextlib.suppress(msgspec.DecodeError):
                found.append(msgspec.json.decode(line, type=BatchResult))
        return found

    async def take(self) -> Job | None:
        """The next task that has no result yet."""
        if self._jobs is None:
            self._jobs = iter(self._left())
        return next(self._jobs, None)

    async def done(self, result: BatchResult) -> None:
        """Append a result, on disk before anybody hears of it."""
        with self._opened() as folder:
            fd = folder.append(_RESULTS)
        try:
            os.write(fd, _encode(result) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who does this batch; a RookeryError says that somebody else does."""
        with self._opened() as folder, folder.lock(_LOCK) as is_ours:
            if not is_ours:
                raise RookeryError(f"batch {self.name!r} is being done: wait for its end")
            yield

    def _left(self) -> list[Job]:
        results = self.results()
        done = {result.id for result in results}
        told = {result.run for result in results}
        begun_runs, begun_loops = self._runs(), self._loops()
        return [
            Job(
                task=task,
                place=(self.name, number),
                runs=tuple(run for run in begun_runs.get(number, ()) if run not in told),
                loop=begun_loops.get(number),
            )
            for number, task in enumerate(self.tasks(), 1)
            if task.id not in done
        ]

    def _runs(self) -> Mapping[int, list[str]]:
        """The runs of this batch by the number of their task, the first one first."""
        found: dict[int, list[str]] = {}
        for folder in reversed(runs.runs(self._home)):
            with contextlib.suppress(RookeryError):  # a folder that tells nothing is not ours
                info = folder.info()
                if info is not None and info.loop == self.name and info.iteration is not None:
                    found.setdefault(info.iteration, []).append(folder.name)
        return found

    def _loops(self) -> Mapping[int, str]:
        """The loops of this batch by the number of their task."""
        found: dict[int, str] = {}
        for folder in store.loops(self._home):
            with contextlib.suppress(RookeryError):
                place = folder.plan().batch
                if place is not None and place[0] == self.name:
                    found[place[1]] = folder.name
        return found

    @property
    def _home(self) -> Path:
        return self.path.parent.parent

    def _read(self, name: str) -> bytes | None:
        with self._opened() as folder:
            return folder.read(name)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Folder]:
        above = self.path.parent
        folder = Folder.at(above.parent, above.name, self.name)
        if folder is None:
            raise RunFolderError(str(self.path), "is gone")
        with folder:
            yield folder


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
    return BatchFolder(path / _BATCHES / pick(full, known))
