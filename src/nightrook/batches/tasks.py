"""The tasks of a batch: one JSON object a line."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from nightrook.config.option import checked
from nightrook.config.options import RunOptions, flat
from nightrook.model.errors import NightrookError, OptionError

_LISTS = frozenset({"allow", "args", "program", "signal", "check"})

Count = Annotated[int, Meta(ge=1)]


class BatchTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task: a line of the file. With a goal it is a loop, else a single run."""

    run: RunOptions
    id: str = ""
    """Name in the results; by default the number of its line."""

    until: str | None = None
    """The task is done when the whole answer is this."""

    signal: tuple[str, ...] = ()
    """The task is done when the agent prints one of these lines."""

    check: tuple[str, ...] = ()
    """Commands that must pass."""

    max_iterations: Count | None = None

    @property
    def is_loop(self) -> bool:
        """True if the agent is run repeatedly until the task is done."""
        return bool(self.until is not None or self.signal or self.check or self.max_iterations)


_OWN = frozenset(BatchTask.__struct_fields__) - {"run"}
_NOT_FOR_TASKS = frozenset(
    {"ask_timeout", "grace", "home", "loop", "partial", "resume", "stdin", "stream"}
)
FIELDS = _OWN | frozenset(RunOptions.__struct_fields__) - _NOT_FOR_TASKS
"""The names that a line may have: those of a task, and most options of a run."""

_ALWAYS_WRITTEN = (
    *("prompt", "agent", "program", "called", "via", "cwd", "model", "permission"),
    *("allow", "args", "max_cost", "timeout"),
)


def read_tasks(
    data: bytes, name: str, defaults: Mapping[str, Any] | None = None
) -> list[BatchTask]:
    """Read a file of tasks; an error names the line and the problem.

    `defaults` are the fields of tasks that do not set them.
    """
    tasks: list[BatchTask] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            fields = msgspec.json.decode(line, type=dict[str, Any])
            task = make_task(**{**(defaults or {}), **fields})
        except (msgspec.DecodeError, UnicodeDecodeError, OptionError) as error:
            raise NightrookError(f"{name}, line {number}: {error}") from error
        if not (task.run.prompt or "").strip():
            raise NightrookError(f"{name}, line {number}: the prompt is empty")
        tasks.append(msgspec.structs.replace(task, id=task.id or str(number)))
    repeated = [each for each, times in Counter(task.id for task in tasks).items() if times > 1]
    if repeated:
        raise NightrookError(
            f"{name}: several tasks have the id {min(repeated)!r}: make them unique"
        )
    if not tasks:
        raise NightrookError(f'{name} has no tasks: write lines such as {{"prompt": "Fix it"}}')
    return tasks


def make_task(**fields: Any) -> BatchTask:
    """Make a task from its own fields and the options of its runs, side by side as in a line.

    One text is accepted for a list of one, and a time such as 5m for seconds.
    """
    if unknown := sorted(fields.keys() - FIELDS):
        raise msgspec.ValidationError(f"{unknown[0]!r} is not a field of a task")
    values = {k: [v] if k in _LISTS and isinstance(v, str) else v for k, v in fields.items()}
    run = {name: value for name, value in values.items() if name not in _OWN}
    own = {name: value for name, value in values.items() if name in _OWN}
    options = checked(RunOptions, {"permission": "agent", **run})
    return msgspec.convert({**own, "run": options}, BatchTask)


def dump_task(task: BatchTask) -> bytes:
    """Encode a task as a line."""
    return msgspec.json.encode(flat(task, task.run, _ALWAYS_WRITTEN)) + b"\n"
