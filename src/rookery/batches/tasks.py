"""The tasks of a batch: lines of a file, what became of each, and where they come from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

from rookery.config.durations import seconds
from rookery.model.errors import RookeryError
from rookery.model.ledger import Source

_LISTS = frozenset({"allow", "args", "signal", "check"})


Dollars = Annotated[float, Meta(ge=0, le=1e9)]
Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Count = Annotated[int, Meta(ge=1)]


class BatchTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to do: a line of the file. With a goal it is a loop, else a single run."""

    prompt: str
    id: str = ""
    """What it is called in the results; the number of its line if it has no name."""

    agent: str = "claude"
    program: tuple[str, ...] | None = None
    """What to call instead of the agent found on PATH."""

    called: str | None = None
    """The name under which that program is shown."""

    via: str | None = None
    """One of the agent's ways to be run."""

    cwd: str = "."
    model: str | None = None
    permission: Literal["edit", "all", "plan", "agent"] = "agent"
    """What it may do unasked; nobody is there to be asked."""

    allow: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    """Further arguments for the agent."""

    max_cost: Dollars | None = None
    timeout: Seconds | None = None
    """How long it may take: seconds, or a text such as 90s, 5m or 2h."""

    until: str | None = None
    """Done when the whole answer is this."""

    signal: tuple[str, ...] = ()
    """Done at one of these lines."""

    check: tuple[str, ...] = ()
    """Commands that must pass."""

    max_iterations: Count | None = None

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

    cut_off: tuple[BatchResult, ...] = ()
    """What became of its runs that gave no result, or of its loop so far, the last one last."""

    loop: str | None = None
    """Its loop that gave no result; it can go on."""


class Queue(Protocol):
    """Where tasks come from and results go; a file here, an engine of many machines later."""

    def left(self) -> Sequence[Job]:
        """What is to be done, as far as that is known."""

    async def take(self) -> Job | None:
        """The next task; None when there is no more."""

    async def done(self, result: BatchResult) -> None:
        """Keep what became of a task."""


def read_tasks(data: bytes, name: str, usual: Mapping[str, Any] | None = None) -> list[BatchTask]:
    """Read the lines of a file of tasks; an error names the line and what is wrong with it.

    `usual` are the fields of tasks that do not say otherwise.
    """
    tasks: list[BatchTask] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            told = msgspec.json.decode(line, type=dict[str, Any])
            task = msgspec.convert({**(usual or {}), **_meant(told)}, BatchTask)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RookeryError(f"{name}, line {number}: {error}") from error
        if not task.prompt.strip():
            raise RookeryError(f"{name}, line {number}: the prompt is empty")
        tasks.append(msgspec.structs.replace(task, id=task.id or str(number)))
    doubled = {id for id, times in Counter(task.id for task in tasks).items() if times > 1}
    if doubled:
        raise RookeryError(f"{name}: several tasks have the id {min(doubled)!r}: give each its own")
    if not tasks:
        raise RookeryError(f'{name} holds no task: write lines such as {{"prompt": "Fix it"}}')
    return tasks


def _meant(told: dict[str, Any]) -> dict[str, Any]:
    """Take one text for a list of one, and a length of time as people write it for seconds."""
    meant = {k: [v] if k in _LISTS and isinstance(v, str) else v for k, v in told.items()}
    time = meant.get("timeout")
    if isinstance(time, str) and (length := seconds(time)) is not None:
        meant["timeout"] = length
    return meant
