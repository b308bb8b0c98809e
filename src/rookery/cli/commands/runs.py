"""`rook runs`: the list of runs."""

import os
import sys
import time

import click
import msgspec

from rookery.cli.live.output import put_json
from rookery.cli.options.parameters import takes
from rookery.config.command_options import ListOptions
from rookery.display.console.look import columns, look_of
from rookery.display.console.table import table
from rookery.display.ending import style_of
from rookery.display.numbers import moment, price
from rookery.model.ledger import Money, Source
from rookery.model.text import duration, one_line
from rookery.runs.listing import ListedRun, ListedStatus, list_runs

_EXAMPLES = """\b
Examples:
  rook runs
  rook runs --json | jq -r .name
"""


_HEAD = ("RUN", "WHEN", "AGENT", "STATUS", "TIME", "COST", "WHAT")


_WIDTH_IN_A_PIPE = 120


@click.command("runs", epilog=_EXAMPLES)
@takes("runs", ListOptions)
def runs_(options: ListOptions) -> None:
    """List the runs, newest first."""
    rows = list_runs(limit=options.limit)
    if options.json:
        for row in rows:
            put_json(sys.stdout, msgspec.json.encode(row))
        return
    if not rows:
        click.echo('There are no runs yet. Start one:  rook run "Fix the tests"   or  rook demo')
        return
    look = look_of(sys.stdout, os.environ)
    now, paint = time.time(), look.paint()
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        return paint(_style(rows[row].status) if column == 3 else "text", text)

    for line in table(_HEAD, [_cells(row, now) for row in rows], width=width, paint=painted):
        click.echo(line)


def _cells(run: ListedRun, now: float) -> list[str]:
    """A run as a row for people."""
    source: Source = "native" if run.cost_source == "native" else "estimated"
    money = Money(run.spent_usd, source, run.cost_at_least)
    return [
        run.name,
        moment(run.started_at, now),
        run.called or run.agent or "raw",
        run.status.replace("_", " "),
        duration(run.seconds),
        price(money),
        one_line(run.what, 200),
    ]


def _style(status: ListedStatus) -> str:
    match status:
        case "running":
            return "tool"
        case "damaged" | "not kept":
            return "bad"
        case _:
            return style_of(status)
