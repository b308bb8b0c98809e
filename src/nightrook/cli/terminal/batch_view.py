"""A batch on the terminal: its running tasks while it lasts, and the table of all tasks."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from nightrook.batches.listing import ListedBatch, ListedTask, read_batch
from nightrook.cli.terminal.loop_view import put_note
from nightrook.cli.terminal.output import put
from nightrook.cli.terminal.temporary_lines import TemporaryLines
from nightrook.display.batches import RunningTask, running_lines
from nightrook.display.console import columns, height, look_of
from nightrook.display.numbers import price, total_cost
from nightrook.display.screen import Echo
from nightrook.display.table import table
from nightrook.model.durations import duration
from nightrook.model.ledger import Money
from nightrook.model.text import count, one_line, suggested
from nightrook.store.batch_folder import BatchFolder

_REFRESH_S = 0.5
_FEWEST_LINES = 2
_LONGEST = 200
_TASK_HEAD = ("TASK", "STATUS", "TIME", "COST", "RUN", "WHAT")
_STYLES = {"success": "good", "done": "good", "running": "tool", "waiting": "aside"}


class RunningTable:
    """Shows the running tasks while its block lasts, below the results."""

    def __init__(self, tasks: Callable[[], Sequence[RunningTask]]) -> None:
        self._tasks = tasks
        self.echo = Echo(sys.stderr)
        self._temporary = TemporaryLines(self.echo, every_s=_REFRESH_S)

    def __enter__(self) -> Self:
        self._temporary.start(self._lines)
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.stop()

    def hidden(self) -> AbstractContextManager[None]:
        """Hide the table inside the block, which prints a result."""
        return self._temporary.hidden()

    def _lines(self) -> list[str]:
        return running_lines(
            self._tasks(),
            now=time.time(),
            width=columns(sys.stderr) - 1,
            height=max(_FEWEST_LINES, height(sys.stderr) - 1),
        )


def show_batch(path: Path) -> None:
    """Show the tasks of a batch: the status, the cost and the run of each."""
    batch = read_batch(BatchFolder(path))
    print_batch_table(
        _TASK_HEAD, [_task_row(task) for task in batch.tasks], [t.status for t in batch.tasks]
    )
    put_note(f"{batch.batch} · {batch.status} · {_done(batch)} · {_spent(batch)}")
    for line in _next_steps(batch):
        put_note(line)


def print_batch_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], statuses: Sequence[str]
) -> None:
    """Print rows in columns, each status in its colour, cut to the width of a terminal."""
    look = look_of(sys.stdout, os.environ)
    paint, status_column = look.paint(), head.index("STATUS")

    def painted(row: int, column: int, text: str) -> str:
        is_status = column == status_column
        return paint(_STYLES.get(statuses[row], "bad") if is_status else "text", text)

    width = columns(sys.stdout) if look.terminal else None
    for line in table(head, rows, width=width, paint=paint, cell=painted):
        put(sys.stdout, line)


def _task_row(task: ListedTask) -> Sequence[str]:
    took = "" if task.duration_s is None else duration(task.duration_s)
    ran = task.status != "not_started" and (task.run or task.loop)
    failed = task.ok is False and task.sentence
    return (
        task.id,
        task.status.replace("_", " "),
        took,
        price(Money(task.spent_usd, task.cost_source)) if ran else "",
        task.loop or task.run or "",
        one_line(f"{task.sentence} · {task.prompt}" if failed else task.prompt, _LONGEST),
    )


def _done(batch: ListedBatch) -> str:
    return f"{batch.done} of {count(len(batch.tasks), 'task')} done · {batch.failed} failed"


def _spent(batch: ListedBatch) -> str:
    cost = batch_cost(batch)
    return f"spent {cost}" if cost else "nothing spent"


def batch_cost(batch: ListedBatch) -> str:
    """The cost of a batch; empty if none of its tasks has started."""
    if not batch.spent_usd and not any(task.has_started for task in batch.tasks):
        return ""
    if batch.spent_usd is None:
        return price(Money(None, "unknown"))
    return total_cost(Money(batch.spent_usd, batch.cost_source), batch.unknown_costs, "task")


def _next_steps(batch: ListedBatch) -> Iterator[str]:
    live = [task.loop or task.run for task in batch.tasks if task.status == "running"]
    if batch.status == "running" and live and live[0]:
        yield f"running: {suggested('show', live[0])}"
    if batch.status == "interrupted":
        yield f"resume:  {suggested('batch', '--resume', batch.batch)}"
