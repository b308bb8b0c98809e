"""The tasks of a batch: lines of a file, a folder that keeps them, and what became of each."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from rookery.core.errors import RookeryError, RunFolderError
from rookery.core.ledger import Source
from rookery.folder.files import Folder
from rookery.folder.names import is_name, new_names, pick
from rookery.run.places import home_folder

PREFIX = "batch-"
"""What the name of every batch begins with."""

_BATCHES = "batches"
_TASKS, _RESULTS = "tasks.jsonl", "results.jsonl"

_encode = msgspec.json.Encoder().encode


class BatchTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to do: a line of the file. With a goal it is a loop, else a single run."""

    prompt: str
    id: str = ""
    """What it is called in the results; the number of its line if it has no name."""

    agent: str = "claude"
    cwd: str = "."
    model: str | None = None
    permission: str = "agent"
    allow: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    max_cost: float | None = None
    timeout: float | None = None
    until: str | None = None
    signal: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    max_iterations: int | None = None

    @property
    def is_loop(self) -> bool:
        """Whether it is run again until it is done."""
        return bool(self.until is not None or self.signal or self.check or self.max_iterations)


class BatchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one task: a line of the results."""

    id: str
    ok: bool
    status: str
    exit_code: int
    sentence: str = ""
    run: str | None = None
    loop: str | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    duration_s: float
    answer: str | None = None


class Queue(Protocol):
    """Where tasks come from and results go; a file here, an engine of many machines later."""

    async def take(self) -> BatchTask | None:
        """The next task; None when there is no more."""

    async def done(self, result: BatchResult) -> None:
        """Keep what became of a task."""


class BatchFolder:
    """A queue in a folder beside the runs: the tasks, and a line for each that is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._left: list[BatchTask] | None = None

    @property
    def name(self) -> str:
        """What the batch is called."""
        return self.path.name

    def tasks(self) -> list[BatchTask]:
        """Everything that was asked."""
        return read_tasks(self._read(_TASKS) or b"", str(self.path / _TASKS))

    def results(self) -> list[BatchResult]:
        """What was done so far; a line that a crash tore is left out."""
        found = []
        for line in (self._read(_RESULTS) or b"").split(b"\n"):
            with contextlib.suppress(msgspec.DecodeError):
                found.append(msgspec.json.decode(line, type=BatchResult))
        return found

    async def take(self) -> BatchTask | None:
        """The next task that has no result yet."""
        if self._left is None:
            finished = {result.id for result in self.results()}
            self._left = [task for task in self.tasks() if task.id not in finished]
        return self._left.pop(0) if self._left else None

    async def done(self, result: BatchResult) -> None:
        """Append a result, on disk before anybody hears of it."""
        with self._opened() as folder:
            fd = folder.append(_RESULTS)
        try:
            os.write(fd, _encode(result) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)

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


def read_tasks(data: bytes, name: str) -> list[BatchTask]:
    """Read the lines of a file of tasks; an error names the line and what is wrong with it."""
    tasks: list[BatchTask] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            task = msgspec.json.decode(line, type=BatchTask)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RookeryError(f"{name}, line {number}: {error}") from error
        if not task.prompt.strip():
            raise RookeryError(f"{name}, line {number}: the prompt is empty")
        tasks.append(msgspec.structs.replace(task, id=task.id or str(number)))
    doubled = {task.id for task in tasks if [other.id for other in tasks].count(task.id) > 1}
    if doubled:
        raise RookeryError(f"{name}: several tasks have the id {min(doubled)!r}: give each its own")
    if not tasks:
        raise RookeryError(f'{name} holds no task: write lines such as {{"prompt": "Fix it"}}')
    return tasks


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
