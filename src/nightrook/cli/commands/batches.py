"""`rook batches`: the list of batches."""

import sys
import time
from collections.abc import Sequence

import click
import msgspec

from nightrook.batches.listing import ListedBatch, list_batches
from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.batch_view import batch_cost, print_batch_table
from nightrook.cli.terminal.output import put_json
from nightrook.config.command_options import ListOptions
from nightrook.display.numbers import moment
from nightrook.model.text import one_line
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook batches
  rook show batch-k7f3
  rook batches --json | jq '.tasks[] | select(.ok == false)'
"""
_HEAD = ("BATCH", "WHEN", "STATUS", "DONE", "FAILED", "COST", "FIRST TASK")
_LONGEST = 200


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
        print_batch_table(_HEAD, rows, [batch.status for batch in batches])
    else:
        click.echo("There are no batches yet. Start one:  rook batch tasks.jsonl")


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
        batch_cost(batch),
        one_line(batch.tasks[0].prompt, _LONGEST),
    )
