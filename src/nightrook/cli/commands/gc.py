"""`rook gc`: compresses the logs of old runs, and forgets texts that search keeps."""

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import click

from nightrook.archive.log_compression import (
    Candidate,
    Skipped,
    compress_logs,
    expected_size,
    logs_to_compress,
    logs_to_restore,
    named_logs_to_compress,
    restore_logs,
)
from nightrook.archive.search.forgetting import TextBlock, forget_texts, kept_texts, to_forget
from nightrook.archive.search.index import FILE, SearchIndex
from nightrook.archive.sessions.copies import KeptCopy, kept_copies, remove_copies
from nightrook.cli.options.parameters import argument, takes
from nightrook.config.archive_options import GcOptions
from nightrook.display.console import columns, look_of
from nightrook.display.numbers import moment, size
from nightrook.display.table import table
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.store.files import Folder
from nightrook.store.home import home_folder
from nightrook.store.list import Stored, find
from nightrook.store.packing import Packing, pin, unpin

_EXAMPLES = """\b
Examples:
  rook gc
  rook gc --yes
  rook gc --older-than 30d --keep 100 --yes
  rook gc k7f3 --yes
  rook gc --restore k7f3 --yes
  rook gc --text-older-than 365d --max-text 1GB --yes
  rook gc --pin k7f3
"""
_LOCK = "gc.lock"
_HEAD = ("NAME", "CHANGED", "SIZE", "AFTER")
_WIDTH_IN_A_PIPE = 120
_FAILED = 1


@click.command("gc", epilog=_EXAMPLES)
@takes("gc", GcOptions)
@argument("names", nargs=-1, metavar="[RUN]...", completes="runs")
def command(options: GcOptions, names: Sequence[str]) -> None:
    """Compress the logs of old runs; list what would be done, or do it with --yes.

    All commands read compressed logs like others, and --restore writes them back byte by byte. Runs
    that are running, pinned or younger than --older-than are left as they are; named ones are
    compressed whatever their age. The ledger of rook cost and the files of agents are never
    touched; rook rm removes whole runs.
    """
    if options.pin or options.unpin:
        _pin(options, names)
        return
    home = home_folder()
    with Folder.made(home) as folder, folder.lock(_LOCK) as is_ours:
        if not is_ours:
            raise NightrookError("another rook gc is at work: try again when it is done")
        codes = [_restore(home, names, options) if options.restore else _pack(home, names, options)]
        codes.append(_forget(home, options))
    raise click.exceptions.Exit(max(codes))


def _pin(options: GcOptions, names: Sequence[str]) -> None:
    if not names or (options.pin and options.unpin):
        raise click.UsageError("name the runs to pin or to unpin")
    for name in names:
        run = find(home_folder(), name)
        (pin if options.pin else unpin)(run.path)


def _pack(home: Path, names: Sequence[str], options: GcOptions) -> int:
    before = time.time() - options.older_than
    found = (
        named_logs_to_compress(home, names)
        if names
        else logs_to_compress(home, before=before, keep=options.keep or 0)
    )
    chosen = _chosen(found)
    if not options.yes:
        _list(chosen, expected_size, "compress")
        return 0
    return _do(chosen, compress_logs, "compressed")


def _restore(home: Path, names: Sequence[str], options: GcOptions) -> int:
    chosen = list(logs_to_restore(home, names))
    if not options.yes:
        _list(chosen, None, "restore")
        return 0
    return _do(chosen, restore_logs, "restored")


def _chosen(found: Iterable[Candidate | Skipped]) -> list[Candidate]:
    """The runs that can be compressed; the others are reported."""
    chosen: list[Candidate] = []
    for each in found:
        if isinstance(each, Skipped):
            click.echo(f"[rook] left as it is: {safe_line(each.why)}", err=True)
        else:
            chosen.append(each)
    return chosen


def _list(chosen: Sequence[Candidate], expected: Callable[[Stored], int] | None, verb: str) -> None:
    if not chosen:
        click.echo(f"[rook] no logs to {verb}", err=True)
        return
    now, rows, before, after = time.time(), [], 0, 0
    for run, takes_now in chosen:
        will = expected(run) if expected else None
        rows.append((run.name, moment(run.changed, now), size(takes_now), _about(will)))
        before, after = before + takes_now, after + (will or 0)
    look = look_of(sys.stdout, os.environ)
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE
    for line in table(_HEAD, rows, width=width, paint=look.paint()):
        click.echo(line)
    freed = f", about {size(max(0, before - after))} of {size(before)} freed" if expected else ""
    runs = count(len(chosen), "run")
    click.echo(f"[rook] would {verb} the logs of {runs}{freed}: add --yes to do it", err=True)


def _about(number: int | None) -> str:
    return "" if number is None else f"~{size(number)}"


def _do(chosen: Sequence[Candidate], work: Callable[[Stored], Packing], done: str) -> int:
    before = after = number = code = 0
    for run, _ in chosen:
        try:
            packing = work(run)
        except NightrookError as error:
            click.echo(f"[rook] {run.name}: {safe_line(str(error))}", err=True)
            code = _FAILED
        else:
            before, after, number = before + packing.before, after + packing.after, number + 1
    runs = count(number, "run")
    click.echo(f"[rook] {done} the logs of {runs}: {size(before)} → {size(after)}", err=True)
    return code


def _forget(home: Path, options: GcOptions) -> int:
    """Delete kept texts and copies, or report how much would be deleted."""
    if options.text_older_than is None and options.max_text is None:
        return 0
    before = None if options.text_older_than is None else time.time() - options.text_older_than
    choose = partial(to_forget, before=before, most=options.max_text)
    codes = [_forget_texts(home, choose, do=options.yes)] if (home / FILE).exists() else []
    copies = kept_copies(home)
    old = choose(copies)
    if options.yes:
        try:
            remove_copies(old)
        except OSError as error:
            click.echo(f"[rook] the kept copies cannot be removed: {error.strerror}", err=True)
            return _FAILED
    if copies:
        _say_forgotten(old, copies, "copies", do=options.yes)
    return max(codes, default=0)


def _forget_texts(
    home: Path, choose: Callable[[list[TextBlock]], list[TextBlock]], *, do: bool
) -> int:
    with SearchIndex.open(home / FILE) as words:
        found = kept_texts(words.connection)
        old = choose(found)
        if do:
            try:
                forget_texts(words.connection, old)
            except sqlite3.Error as error:
                click.echo(f"[rook] the kept texts cannot be changed now: {error}", err=True)
                return _FAILED
    _say_forgotten(old, found, "texts", do=do)
    return 0


def _say_forgotten(
    old: Sequence[TextBlock | KeptCopy],
    found: Sequence[TextBlock | KeptCopy],
    what: str,
    *,
    do: bool,
) -> None:
    freed, total = (sum(each.size for each in kept) for kept in (old, found))
    verb = "forgot" if do else "would forget"
    click.echo(f"[rook] {verb} {size(freed)} of {size(total)} of kept {what}", err=True)
