"""`rook batches` and `rook show BATCH`: what batches did, and what they do now."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from nightrook.batches.listing import ListedBatch, ListedTask, list_batches, read_batch
from nightrook.cli.commands.loops import say
from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.output import put, put_json
from nightrook.config.command_options import ListOptions
from nightrook.display.console import columns, look_of
from nightrook.display.numbers import moment, price, total_cost
from nightrook.display.table import table
from nightrook.model.durations import duration
from nightrook.model.ledger import Money
from nightrook.model.text import count, one_line, suggested
from nightrook.store.batch_folder import BatchFolder
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook batches
  rook show batch-k7f3
  rook batches --json | jq '.tasks[] | select(.ok == false)'
"""
_HEAD = ("BATCH", "WHEN", "STATUS", "DONE", "FAILED", "COST", "FIRST TASK")
_TASK_HEAD = ("TASK", "STATUS", "TIME", "COST", "RUN", "WHAT")
_LONGEST = 200
_UNCUT = 10_000
_STYLES = {"success": "good", "done": "good", "running": "tool", "waiting": "aside"}


@click.command("batches", epilog=_EXAMPLES)
@takes("batches", ListOptions)
def command(options: ListOptions) -> None:
    """List the batches, newest first; rook show BATCH shows the tasks of one."""
    batches = list_batches(home_folder())
    if options.json:
        for batch in batches:
            put_json(sys.stdout, msgspec.json.encode(batch))
    elif batches:
        now = time.time()
        rows = [_row(batch, now) for batch in batches]
        _print(_HEAD, rows, [batch.status for batch in batches])
    else:
        click.echo("There are no batches yet. Start one:  rook batch tasks.jsonl")


def show_batch(path: Path) -> None:
    """Show the tasks of a batch: how each ended or what it does, what it cost, and its run."""
    batch = read_batch(BatchFolder(path))
    _print(_TASK_HEAD, [_task_row(task) for task in batch.tasks], [t.status for t in batch.tasks])
    say(f"{batch.batch} · {batch.status} · {_done(batch)} · {_spent(batch)}")
    for line in _next_steps(batch):
        say(line)


def _row(batch: ListedBatch, now: float) -> Sequence[str]:
    if batch.problem is not None:
        problem = one_line(batch.problem, _LONGEST)
        return batch.batch, moment(batch.created_at, now), batch.status, "", "", "", problem
    return (
        batch.batch,
        moment(batch.created_at, now),
        batch.status,
        f"{batch.done} of {len(batch.tasks)}",
        str(batch.failed),
        _cost(batch),
        one_line(batch.tasks[0].prompt, _LONGEST),
    )


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
    cost = _cost(batch)
    return f"spent {cost}" if cost else "nothing spent"


def _cost(batch: ListedBatch) -> str:
    """What a batch has cost; empty if none of its tasks has started."""
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


def _print(head: Sequence[str], rows: Sequence[Sequence[str]], statuses: Sequence[str]) -> None:
    look = look_of(sys.stdout, os.environ)
    paint, status_column = look.paint(), head.index("STATUS")

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        is_status = column == status_column
        return paint(_STYLES.get(statuses[row], "bad") if is_status else "text", text)

    width = columns(sys.stdout) if look.terminal else _UNCUT
    for line in table(head, rows, width=width, paint=painted):
        put(sys.stdout, line)
