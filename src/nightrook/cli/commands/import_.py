"""`rook import`: reads the sessions that agents keep on disk into the ledger."""

import os
import sys
from collections.abc import Sequence

import click

from nightrook.archive.importer import ImportReport, bring_up_to_date
from nightrook.archive.ledger.ledger import FILE
from nightrook.archive.session_files import user_homes
from nightrook.cli.import_bar import ImportBar
from nightrook.cli.options.parameters import argument, takes
from nightrook.config.archive_options import ImportOptions
from nightrook.display.numbers import size
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook import
  rook import --agent codex
  rook import /mnt/old-laptop/home/me
  rook import --agent claude session.jsonl
"""
_NOT_READ = 1
_MOST_SHOWN = 20


@click.command("import", epilog=_EXAMPLES)
@takes("import", ImportOptions)
@argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
def command(options: ImportOptions, paths: Sequence[str]) -> None:
    """Read the sessions that agents keep on disk into the ledger.

    `rook cost` does this by itself. Only what is new is read, and nothing in an agent's folder is
    changed. What was read once stays counted when an agent deletes its files.

    PATH is a file or a folder, such as a copy of another machine's home; its sessions are added.
    Without one, the homes of all agents are read, and those that the setting `archive_roots` names.
    """
    names = None if options.agent is None else (options.agent,)
    with ImportBar(sys.stderr, os.environ) as bar:
        report = bring_up_to_date(
            home_folder() / FILE, user_homes(), names=names, paths=paths, progress=bar
        )
    show(report)
    raise click.exceptions.Exit(_NOT_READ if paths and report.problems else 0)


def show(report: ImportReport) -> None:
    """Print the result of an import, and the files that it could not read."""
    click.echo(
        f"read {size(report.bytes)} in {report.read} of {count(report.files, 'file')}: "
        f"{count(report.calls, 'new call')}"
    )
    for problem in report.problems[:_MOST_SHOWN]:
        line = safe_line(f"not read: {problem.path}: {problem.reason}")
        click.echo(f"[rook] {line}", err=True)
    more = len(report.problems) - _MOST_SHOWN
    if more > 0:
        click.echo(f"[rook] {more} more could not be read", err=True)
