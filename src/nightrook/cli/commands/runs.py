"""`rook runs`: the list of runs."""

import os
import sys
import time

import click
import msgspec

from nightrook.cli.options.parameters import takes
from nightrook.cli.run_table import HEAD, print_rows, run_cells, spent_on, style, total_parts
from nightrook.cli.terminal.output import put_json
from nightrook.config.command_options import RunsOptions
from nightrook.model.text import count
from nightrook.runs.listing import RunFilter, RunList, listed_runs

_EXAMPLES = """\b
Examples:
  rook runs
  rook runs --since 7d --status failed --all
  rook runs --cwd . --agent codex
  rook runs --json | jq -r .name
  rook runs --sessions --since 7d
"""


@click.command("runs", epilog=_EXAMPLES)
@takes("runs", RunsOptions)
def command(options: RunsOptions) -> None:
    """List the runs, newest first, with what each has cost; below them, the cost of all listed.

    With --sessions, loops and the sessions that you had with agents are listed too. The total does
    not count loops, whose runs are listed, nor what runs did in a session.
    """
    wanted = RunFilter(
        agent=options.agent,
        status=options.status,
        cwd=None if options.cwd is None else os.path.abspath(options.cwd),
        since=None if options.since is None else time.time() - options.since,
    )
    if options.sessions:
        from nightrook.cli.list_sessions import list_everything  # so that runs stay quick

        list_everything(wanted, None if options.all else options.limit, as_json=options.json)
        return
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
    now = time.time()
    print_rows(
        HEAD,
        [run_cells(row, now) for row in found.runs],
        styles=[style(row.status) for row in found.runs],
        total=_total(found),
    )


def _total(found: RunList) -> str:
    """How many runs are listed, what they have cost, and how many more there are."""
    parts = [
        count(len(found.runs), "run"),
        *total_parts(map(spent_on, found.runs), found.more, "run"),
    ]
    return " · ".join(parts)
