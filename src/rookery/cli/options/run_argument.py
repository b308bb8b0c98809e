"""The run that an argument names, or that is running if there is no argument."""

import sys
import time
from collections.abc import Sequence

import click

from rookery.display.console.look import columns
from rookery.display.console.table import table
from rookery.display.numbers import moment
from rookery.model.errors import RookeryError
from rookery.model.text import one_line, suggested
from rookery.runs.listing import ListedRun, running_runs
from rookery.store import runs
from rookery.store.home import home_folder
from rookery.store.run_folder import RunFolder


def find_run(name: str | None) -> RunFolder:
    """Find a run by its name or the beginning of it; without a name, the last run."""
    home = home_folder()
    if name is not None and name.startswith("loop-"):
        raise RookeryError(f"{name} is a loop, not a run: use  {suggested('show', name)}")
    if name is not None and name.startswith("batch-"):
        raise RookeryError(f"{name} is a batch, not a run: use  {suggested('show', name)}")
    if name is not None:
        return runs.find(home, name)
    last = runs.last(home)
    if last is None:
        raise RookeryError('there are no runs yet; start one:  rook run "Fix the tests"')
    return last


def find_running(name: str | None) -> RunFolder:
    """Find a run by its name; without one, that which is running, or else the last one.

    If several are running, a person at a terminal is asked which one.
    """
    running = running_runs() if name is None else []
    if not running:
        return find_run(name)  # the last one may have ended before it could be named
    chosen = running[0] if len(running) == 1 else _asked(running)
    return runs.find(home_folder(), chosen.name)


def _asked(running: Sequence[ListedRun]) -> ListedRun:
    """The run that a person chooses by its number."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        names = ", ".join(run.name for run in running)
        raise RookeryError(f"{len(running)} runs are running: name one of {names}")
    now = time.time()
    rows = [
        (str(number), run.name, moment(run.started_at, now), one_line(run.what, 200))
        for number, run in enumerate(running, 1)
    ]
    for line in table(("", "RUN", "STARTED", "WHAT"), rows, width=columns(sys.stderr)):
        click.echo(line, err=True)
    choice = click.IntRange(1, len(running))
    number: int = click.prompt("Which one?", type=choice, default=1, err=True)
    return running[number - 1]
