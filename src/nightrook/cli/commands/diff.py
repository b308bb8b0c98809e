"""`rook diff`: the changes of a run in a repository."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import click

from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.run_change import RunChange, find_change
from nightrook.cli.terminal.pager import paged
from nightrook.cli.terminal.raw_text import RawOutput
from nightrook.config.command_options import DiffOptions
from nightrook.display.console import Paint, look_of
from nightrook.model.safe import safe
from nightrook.runs.git.changes import write_diff

_CHUNK = 1024 * 1024
_STYLES = {"+": "added", "-": "removed", "@": "hunk"}
_HEADINGS = ("diff --git ", "index ", "--- ", "+++ ", "new file ", "deleted file ", "rename ")

_EXAMPLES = """\b
Examples:
  rook diff k7f3
  rook diff k7f3 --stat
  rook diff k7f3 -- src tests/test_parser.py
  rook diff loop-k7 > change.patch
"""


@click.command("diff", epilog=_EXAMPLES)
@takes("diff", DiffOptions)
@argument("run", required=False, completes="changed")
@argument("paths", nargs=-1)
def command(options: DiffOptions, run: str | None, paths: tuple[str, ...]) -> None:
    """Show what a run or a loop changed in a repository; without a name, the last run.

    This is for runs that worked apart from your files: on another machine, or with --worktree. What
    the agent did not commit is included. In a pipe, the patch is exact: git apply reads it.
    """
    with TemporaryDirectory(prefix="rook-diff-") as folder:
        found = find_change(run, Path(folder, "git"))
        with open(Path(folder, "patch"), "w+b") as patch:
            _write(found, patch, options, paths)
            patch.seek(0)
            _show(patch, options)


def _write(found: RunChange, into: BinaryIO, options: DiffOptions, paths: tuple[str, ...]) -> None:
    forms = {"--stat": options.stat, "--name-only": options.name_only}
    chosen = [word for word, is_wanted in forms.items() if is_wanted]
    write_diff(found.repository, found.change, into, cwd=found.cwd, paths=paths, options=chosen)


def _show(patch: BinaryIO, options: DiffOptions) -> None:
    look = look_of(sys.stdout, os.environ)
    if look.terminal and not options.no_pager:
        paged(_lines(patch, look.paint()), os.environ)
        return
    if look.colour:
        for line in _lines(patch, look.paint()):
            click.echo(line)
        return
    out = RawOutput(sys.stdout)
    while data := patch.read(_CHUNK):
        out.write(data)
    out.close()


def _lines(patch: BinaryIO, paint: Paint) -> Iterator[str]:
    """The lines of a patch, safe to print, in colours."""
    for data in patch:
        line = safe(data.decode("utf-8", "replace").removesuffix("\n"))
        style = "strong" if line.startswith(_HEADINGS) else _STYLES.get(line[:1])
        yield paint(style, line) if style else line
