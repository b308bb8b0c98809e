"""`rook rm`: removes runs, loops and batches."""

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

import click

from nightrook.cli.options.parameters import argument, takes
from nightrook.config.command_options import RemoveOptions
from nightrook.display.console import columns, look_of
from nightrook.display.numbers import moment, size
from nightrook.display.table import table
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.process.liveness import is_same_process
from nightrook.process.trees import marked
from nightrook.store import removal
from nightrook.store.home import home_folder
from nightrook.store.list import Stored, everything, find
from nightrook.store.names import Kind

_EXAMPLES = """\b
Examples:
  rook rm k7f3
  rook rm loop-k7 batch-3x
  rook rm --older-than 30d --dry-run
  rook rm --keep 100 --yes
  rook rm --max-size 5G
"""
_HEAD = ("NAME", "KIND", "CHANGED", "SIZE")
_WIDTH_IN_A_PIPE = 120
_PLURALS: dict[Kind, str] = {"run": "runs", "loop": "loops", "batch": "batches"}
_NOT_REMOVED = 1

_obstacle = partial(removal.obstacle, alive=is_same_process, marked=marked)


@click.command("rm", epilog=_EXAMPLES)
@takes("rm", RemoveOptions)
@argument("names", nargs=-1, metavar="[NAME]...", completes="stored")
def command(options: RemoveOptions, names: Sequence[str]) -> None:
    """Remove runs, loops and batches with everything they recorded.

    The beginning of a name is enough. A loop is removed with its runs, a batch with its runs and
    loops. What is running is not removed, and neither is a loop whose git worktree still exists.
    With several of --older-than, --keep and --max-size, only what all of them allow is removed.
    """
    if bool(names) == options.chooses:
        raise click.UsageError("name what to remove, or use --older-than, --keep or --max-size")
    chosen = _named(names) if names else _chosen(options)
    if not chosen:
        click.echo("[rook] nothing to remove", err=True)
        return
    if options.dry_run:
        _list(chosen)
        return
    if len(chosen) > 1 and not options.yes:
        _ask(chosen)
    raise click.exceptions.Exit(_remove(chosen))


def _named(names: Sequence[str]) -> list[Stored]:
    """The things named, with their parts; an error if any of them cannot be removed."""
    home = home_folder()
    chosen = removal.with_parts(home, [find(home, name) for name in names])
    for stored in chosen:
        if (why := _obstacle(stored)) is not None:
            raise NightrookError(why)
    return chosen


def _chosen(options: RemoveOptions) -> list[Stored]:
    """The things that all of the options together choose, newest first."""
    changes = {stored: stored.changed for stored in everything(home_folder())}
    newest = sorted(changes, key=lambda stored: -changes[stored])
    before = time.time() - (options.older_than or 0.0)
    seen: Counter[Kind] = Counter()
    old = []
    for stored in newest:
        seen[stored.kind] += 1
        if seen[stored.kind] > (options.keep or 0) and changes[stored] <= before:
            old.append(stored)
    if options.max_size is None:
        return [stored for stored in old if _is_removable(stored)]
    return _oldest(old, sum(stored.size for stored in newest), options.max_size)


def _oldest(old: Sequence[Stored], total: int, max_size: int) -> list[Stored]:
    """The oldest, as many as it takes for the rest of the total to fit the size."""
    chosen: list[Stored] = []
    for stored in reversed(old):
        if total <= max_size:
            break
        if _is_removable(stored):  # guards: running-size-kept
            chosen.insert(0, stored)
            total -= stored.size
    if total > max_size:
        click.echo(f"[rook] {size(total)} remain, more than --max-size allows", err=True)
    return chosen


def _is_removable(stored: Stored) -> bool:
    """True for something that can be removed now; if it can't, the reason is printed."""
    why = _obstacle(stored)
    if why is not None:
        click.echo(f"[rook] not removed: {safe_line(why)}", err=True)
    return why is None


def _list(chosen: Sequence[Stored]) -> None:
    now = time.time()
    rows = [(each.name, each.kind, moment(each.changed, now), size(each.size)) for each in chosen]
    look = look_of(sys.stdout, os.environ)
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE
    for line in table(_HEAD, rows, width=width, paint=look.paint()):
        click.echo(line)
    click.echo(f"[rook] would remove {_summary(chosen)}", err=True)


def _ask(chosen: Sequence[Stored]) -> None:
    """Ask before many are removed; without a terminal nothing is removed."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NightrookError(
            f"this would remove {_summary(chosen)}: add --yes to do it, or --dry-run to list them"
        )
    if not click.confirm(f"Remove {_summary(chosen)}?", err=True):
        click.echo("[rook] nothing was removed", err=True)
        raise click.exceptions.Exit(_NOT_REMOVED)


def _remove(chosen: Sequence[Stored]) -> int:
    freed, removed, code = 0, [], 0
    for stored in chosen:
        bytes_of = stored.size
        try:
            removal.remove(stored)
        except NightrookError as error:
            click.echo(f"[rook] {safe_line(str(error))}", err=True)
            code = _NOT_REMOVED
        else:
            removed.append(stored)
            freed += bytes_of
    click.echo(f"[rook] removed {_counts(removed)} ({size(freed)} freed)", err=True)
    return code


def _summary(chosen: Sequence[Stored]) -> str:
    return f"{_counts(chosen)} ({size(sum(each.size for each in chosen))})"


def _counts(chosen: Sequence[Stored]) -> str:
    """The number of each kind, such as `3 runs and 1 loop`; a single one by its name."""
    if len(chosen) == 1:
        return f"{chosen[0].kind} {chosen[0].name}"
    kinds = Counter(each.kind for each in chosen)
    parts = [
        count(number, kind) if number == 1 else f"{number} {_PLURALS[kind]}"
        for kind, number in kinds.items()
    ]
    return " and ".join(parts) or "nothing"
