"""The tasks of a batch as lines of text, in columns."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nightrook.batches.batch import Batch
from nightrook.display.cells import width as cells_of
from nightrook.display.numbers import price, total_cost
from nightrook.display.table import table
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.ledger import Money
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line, suggested
from nightrook.store.batch_folder import BatchResult

_LONGEST = 200
_WIDEST_ID = 24  # a longer one pushes only its own line to the right
_STATUS, _TIME, _COST = len("not started"), len("59m 59s"), len("~$0.0000")
_HEAD = ("TASK", "RUN", "TIME", "COST", "WHAT")


class RunningTask(NamedTuple):
    """A task that is running."""

    id: str
    name: str | None
    """Name of its run or loop, once it has one."""

    since: float
    spent: Money
    prompt: str


class ResultLines:
    """The ends of tasks, one line each, in columns that fit all tasks of the batch."""

    def __init__(self, ids: Iterable[str]) -> None:
        widths = (cells_of(safe_line(id)) for id in ids)
        self._id_width = max((width for width in widths if width <= _WIDEST_ID), default=0)

    def line(self, result: BatchResult) -> str:
        """The line about the end of a task."""
        ran = result.status != "not_started"
        cost = price(Money(result.spent_usd, result.cost_source)) if ran else ""
        id = _padded(f"{safe_line(result.id)}:", self._id_width + 1)
        parts = [
            f"{id} {result.status.replace('_', ' '):{_STATUS}}",
            f"{duration(result.duration_s):>{_TIME}}",
            f"{cost:>{_COST}}",
        ]
        if details := result.loop or result.run:
            parts.append(suggested("show", details))
        if not result.ok:
            parts.append(safe_line(one_line(result.sentence, _LONGEST)))
        return " · ".join(parts)


def running_lines(
    tasks: Sequence[RunningTask], *, now: float, width: int, height: int
) -> list[str]:
    """The tasks that are running, in a table that fits so many columns and lines."""
    rows = [
        (
            task.id,
            task.name or "…",
            duration(elapsed_s(task.since, now)),
            price(task.spent),
            one_line(task.prompt, _LONGEST),
        )
        for task in tasks
    ]
    lines = table(_HEAD, rows, width=width) if rows else []
    return lines if len(lines) <= height else [*lines[: height - 1], _more(lines, height)]


def _more(lines: Sequence[str], height: int) -> str:
    return f"… and {len(lines) - height + 1} more"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells_of(text))


def spent_line(batch: Batch) -> str:
    """The cost of all tasks of a batch."""
    if not batch.has_started and not batch.spent_usd:
        return "nothing spent"
    if batch.unknown_costs and not batch.spent_usd:
        return f"spent {price(Money(None, 'unknown'))}"
    cost = Money(batch.spent_usd, batch.cost_source)
    return f"spent {total_cost(cost, batch.unknown_costs, 'task')}"
