"""The tasks of a batch: one JSON object a line."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from rookery.config.durations import seconds
from rookery.model.errors import RookeryError

_LISTS = frozenset({"allow", "args", "signal", "check"})


Dollars = Annotated[float, Meta(ge=0, le=1e9)]
Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Count = Annotated[int, Meta(ge=1)]


class BatchTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task: a line of the file. With a goal it is a loop, else a single run."""

    prompt: str
    id: str = ""
    """Its name in the results; by default the number of its line."""

    agent: str = "claude"
    program: tuple[str, ...] | None = None
    """The command to start instead of the agent found on PATH."""

    called: str | None = None
    """The name that is displayed for that command."""

    via: str | None = None
    """How to run the agent, if there are several ways."""

    cwd: str = "."
    model: str | None = None
    permission: Literal["edit", "all", "plan", "agent"] = "agent"
    """Permissions; a batch cannot ask for approval."""

    allow: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    """Further arguments for the agent."""

    max_cost: Dollars | None = None
    timeout: Seconds | None = None
    """The time limit: seconds, or a text such as 90s, 5m or 2h."""

    until: str | None = None
    """The task is done when the whole answer is this."""

    signal: tuple[str, ...] = ()
    """The task is done when the agent prints one of these lines."""

    check: tuple[str, ...] = ()
    """Commands that must pass."""

    max_iterations: Count | None = None

    @property
    def is_loop(self) -> bool:
        """Whether the agent is run repeatedly until the task is done."""
        return bool(self.until is not None or self.signal or self.check or self.max_iterations)


def read_tasks(
    data: bytes, name: str, defaults: Mapping[str, Any] | None = None
) -> list[BatchTask]:
    """Read a file of tasks; an error names the line and what is wrong with it.

    `defaults` are the fields of tasks that do not set them.
    """
    tasks: list[BatchTask] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            fields = msgspec.json.decode(line, type=dict[str, Any])
            task = msgspec.convert({**(defaults or {}), **_normalised(fields)}, BatchTask)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RookeryError(f"{name}, line {number}: {error}") from error
        if not task.prompt.strip():
            raise RookeryError(f"{name}, line {number}: the prompt is empty")
        tasks.append(msgspec.structs.replace(task, id=task.id or str(number)))
    repeated = [each for each, times in Counter(task.id for task in tasks).items() if times > 1]
    if repeated:
        raise RookeryError(f"{name}: several tasks have the id {min(repeated)!r}: make them unique")
    if not tasks:
        raise RookeryError(f'{name} has no tasks: write lines such as {{"prompt": "Fix it"}}')
    return tasks


def _normalised(fields: dict[str, Any]) -> dict[str, Any]:
    """Accept one text for a list of one, and a duration such as 5m for seconds."""
    values = {k: [v] if k in _LISTS and isinstance(v, str) else v for k, v in fields.items()}
    timeout = values.get("timeout")
    if isinstance(timeout, str) and (length := seconds(timeout)) is not None:
        values["timeout"] = length
    return values
