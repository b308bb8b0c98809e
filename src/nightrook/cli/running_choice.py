"""What `rook attach` follows without a name: the run, loop or batch that is running."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import click

from nightrook.batches.queue import FolderQueue
from nightrook.display.console import columns
from nightrook.display.numbers import moment
from nightrook.display.table import table
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.errors import NightrookError
from nightrook.model.text import count, one_line
from nightrook.runs.listing import running_runs
from nightrook.store.batch_folder import BATCHES, BatchFolder
from nightrook.store.home import home_folder

_HEAD = ("", "NAME", "STARTED", "WHAT")
_LONGEST = 200
_PLURALS = {"run": "runs", "loop": "loops", "batch": "batches"}


class Running(NamedTuple):
    """A run, a loop or a batch that is running."""

    kind: str
    name: str
    started_at: float
    what: str
    part_of: str | None = None
    """The batch that a loop belongs to."""


def running_name() -> str | None:
    """The name of what is running; a person at a terminal is asked if there is more than one.

    None if nothing is running.
    """
    running = list_running()
    if len(running) < 2:
        return running[0].name if running else None
    return _asked(running).name


def list_running() -> list[Running]:
    """List what is running, newest first; parts of a running loop or batch are left out."""
    whole = [*_batches(), *_loops()]
    names = {each.name for each in whole}
    whole += (
        Running("run", run.name, run.started_at or 0.0, run.what)
        for run in running_runs(without=names)
    )
    whole.sort(key=lambda each: -each.started_at)
    return [each for each in whole if each.part_of not in names]


def _batches() -> Iterator[Running]:
    for path in BATCHES.paths(home_folder()):
        folder = BatchFolder(path)
        with suppress(NightrookError):  # it is damaged, or was removed meanwhile
            if folder.is_running:
                first, *others = (task.run.prompt or "" for task in FolderQueue(folder).tasks())
                what = f"{first} (and {count(len(others), 'more task')})" if others else first
                yield Running("batch", folder.name, folder.created_at, what)


def _loops() -> Iterator[Running]:
    for folder in LOOP_FOLDERS.all(home_folder()):
        with suppress(NightrookError):
            if folder.is_running:
                plan, state = folder.plan(), folder.state()
                started_at = state.started_at if state else time.time()
                what = plan.prompt_file or plan.run.prompt or ""
                batch = plan.batch[0] if plan.batch else None
                yield Running("loop", folder.name, started_at, what, batch)


def _asked(running: Sequence[Running]) -> Running:
    """What a person chooses by its number."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        names = ", ".join(each.name for each in running)
        raise NightrookError(f"{_counted(running)} are running: name one of {names}")
    now = time.time()
    rows = [
        (str(number), each.name, moment(each.started_at, now), one_line(each.what, _LONGEST))
        for number, each in enumerate(running, 1)
    ]
    for line in table(_HEAD, rows, width=columns(sys.stderr)):
        click.echo(line, err=True)
    choice = click.IntRange(1, len(running))
    number: int = click.prompt("Which one?", type=choice, default=1, err=True)
    return running[number - 1]


def _counted(running: Sequence[Running]) -> str:
    """How many are running of each kind: `2 runs and 1 loop`."""
    numbers = Counter(each.kind for each in running)
    *most, last = (
        f"{numbers[kind]} {kind if numbers[kind] == 1 else plural}"
        for kind, plural in _PLURALS.items()
        if numbers[kind]
    )
    return f"{', '.join(most)} and {last}" if most else last
