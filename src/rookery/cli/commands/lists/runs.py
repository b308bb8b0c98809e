"""`rook runs`: the list of runs."""

import os
import sys
import time
from collections.abc import Sequence

import click
import msgspec

from rookery.cli.live.output import put_json
from rookery.cli.options.parameters import takes
from rookery.config.command_options import RunsOptions
from rookery.display.console import cells
from rookery.display.console.look import columns, look_of
from rookery.display.console.paint import style_of
from rookery.display.console.table import table
from rookery.display.numbers import moment, price, total_cost
from rookery.model.ledger import Money, least_certain
from rookery.model.price import dollars, nano
from rookery.model.text import count, duration, from_home, one_line
from rookery.model.verdict import ListedStatus
from rookery.runs.listing import ListedRun, RunFilter, RunList, listed_runs

_EXAMPLES = """\b
Examples:
  rook runs
  rook runs --since 7d --status failed --all
  rook runs --cwd . --agent codex
  rook runs --json | jq -r .name
"""
_HEAD = ("RUN", "WHEN", "AGENT", "MODEL", "STATUS", "TIME", "COST", "FOLDER", "WHAT")
_STATUS = _HEAD.index("STATUS")
_LESS_NEEDED = ("FOLDER", "MODEL")
"""The columns that a narrow terminal does without, the least needed first."""

_LEAST_WHAT = 20  # columns for the prompt, else there are fewer others
_WIDEST = {"MODEL": 20, "FOLDER": 24}
_WIDTH_IN_A_PIPE = 140


@click.command("runs", epilog=_EXAMPLES)
@takes("runs", RunsOptions)
def runs_(options: RunsOptions) -> None:
    """List the runs, newest first, with what each has cost; below them, the cost of all listed."""
    wanted = RunFilter(
        agent=options.agent,
        status=options.status,
        cwd=None if options.cwd is None else os.path.abspath(options.cwd),
        since=None if options.since is None else time.time() - options.since,
    )
    found = listed_runs(wanted, None if options.all else options.limit)
    if options.json:
        for row in found.runs:
            put_json(sys.stdout, msgspec.json.encode(row))
    elif found.runs:
        _print(found)
    elif wanted.takes_all:
        click.echo('There are no runs yet. Start one:  rook run "Fix the tests"   or  rook demo')
    else:
        click.echo("No runs match. See all of them with:  rook runs --all")


def _print(found: RunList) -> None:
    look, now = look_of(sys.stdout, os.environ), time.time()
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE
    rows = [_cells(row, now) for row in found.runs]
    shown = _fitting(rows, width) if look.terminal else list(range(len(_HEAD)))
    paint = look.paint()

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        is_status = shown[column] == _STATUS
        return paint(_style(found.runs[row].status) if is_status else "text", text)

    chosen = [[row[column] for column in shown] for row in (_HEAD, *rows)]
    for line in table(chosen[0], chosen[1:], width=width, paint=painted):
        click.echo(line)
    click.echo(f"{paint('prefix', '[rook]')} {_total(found)}")


def _cells(run: ListedRun, now: float) -> list[str]:
    """A run as a row for people."""
    return [
        run.name,
        moment(run.started_at, now),
        run.called or run.agent or "raw",
        cells.fit(one_line(run.model or "", 100), _WIDEST["MODEL"]),
        run.status.replace("_", " "),
        duration(run.seconds),
        price(run.spent),
        _folder(run.cwd or ""),
        one_line(run.what, 200),
    ]


def _folder(path: str) -> str:
    """A folder, short: the end of a long path says more than its beginning."""
    shown, most = from_home(path, os.path.expanduser("~")), _WIDEST["FOLDER"]
    return shown if len(shown) <= most else f"…{shown[-most + 1 :]}"


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that leave enough of a terminal's width for the prompt."""
    shown = list(range(len(_HEAD)))
    wide = [max(cells.width(row[column]) for row in (_HEAD, *rows)) for column in shown]
    for name in _LESS_NEEDED:
        if sum(wide[column] + 2 for column in shown[:-1]) + _LEAST_WHAT <= width:
            break
        shown.remove(_HEAD.index(name))
    return shown


def _total(found: RunList) -> str:
    """How many runs are listed, what they have cost, and how many more there are."""
    started = [run.spent for run in found.runs if run.status != "not_started"]
    known = [cost for cost in started if cost.usd is not None]
    spent = Money(
        dollars(sum(nano(cost.usd or 0.0) for cost in known)),
        least_certain(cost.source for cost in known),
        any(cost.at_least for cost in known),
    )
    parts = [count(len(found.runs), "run")]
    if known:
        parts.append(total_cost(spent, len(started) - len(known), "run"))
    elif started:
        parts.append(price(Money(None, "unknown")))
    if found.more:
        parts.append(f"{found.more} more: use --all or --limit N")
    return " · ".join(parts)


def _style(status: ListedStatus) -> str:
    match status:
        case "running":
            return "tool"
        case "damaged" | "not kept":
            return "bad"
        case _:
            return style_of(status)
