"""The tasks of a batch: lines of a file, what became of each, and where they come from."""

from typing import Protocol

import msgspec

from rookery.core.errors import RookeryError
from rookery.core.ledger import Source


class BatchTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to do: a line of the file. With a goal it is a loop, else a single run."""

    prompt: str
    id: str = ""
    """What it is called in the results; the number of its line if it has no name."""

    agent: str = "claude"
    cwd: str = "."
    via: str | None = None
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


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A task, and what was done for it before the batch was cut off."""

    task: BatchTask
    place: tuple[str, int]
    """The name of the batch, and which of its tasks it is: kept with each run and loop of it."""

    runs: tuple[str, ...] = ()
    """Its runs that gave no result, the first one first."""

    loop: str | None = None
    """Its loop that gave no result."""


class Queue(Protocol):
    """Where tasks come from and results go; a file here, an engine of many machines later."""

    async def take(self) -> Job | None:
        """The next task; None when there is no more."""

    async def done(self, result: BatchResult) -> None:
        """Keep what became of a task."""


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
