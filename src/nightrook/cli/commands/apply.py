"""`rook apply`: applies changes of a run elsewhere to the user's files, if that is safe."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.run_change import RunChange, files_of, find_change
from nightrook.config.command_options import ApplyOptions
from nightrook.fleet.repository.files import unpack_files
from nightrook.fleet.repository.limits import Limits
from nightrook.loops.commit_message import run_commit_message
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.runs.git.changes import Applied, apply_change
from nightrook.runs.git.git_command import GitError, ask, do

_EXAMPLES = """\b
Examples:
  rook apply k7f3
  rook apply k7f3 --commit
  rook apply k7f3 --branch fix-parser
  rook apply k7f3 -- src
  rook apply k7f3 --files
"""


@click.command("apply", epilog=_EXAMPLES)
@takes("apply", ApplyOptions)
@argument("run", required=False, completes="changed")
@argument("paths", nargs=-1)
def command(options: ApplyOptions, run: str | None, paths: tuple[str, ...]) -> None:
    """Apply what a run or a loop changed to your files; without a name, the last run.

    This is for runs that worked apart from your files: on another machine, or with --worktree. The
    changes are merged with your commits since then. If a file has changes of yours that are not
    committed, or there is a conflict, nothing is changed. Your index and branches stay as they are.
    """
    chosen = [options.commit, options.branch is not None, options.files]
    if sum(chosen) > 1:
        raise click.UsageError("--commit, --branch and --files can't be combined")
    if options.files:
        _unpack(run)
        return
    with TemporaryDirectory(prefix="rook-apply-") as folder:
        keep = Path(folder)
        stored = options.branch is not None
        found = find_change(run, keep / "found", stored=stored)
        if options.branch is not None:
            _make_branch(found, options.branch)
        else:
            _apply(found, keep / "git", paths, commit=options.commit)


def _apply(found: RunChange, keep: Path, paths: tuple[str, ...], *, commit: bool) -> None:
    repository = found.repository
    applied = apply_change(
        repository, found.change, keep, cwd=found.cwd, paths=paths, committed_only=commit
    )
    for name in applied.files:
        click.echo(f"  {safe_line(name)}")
    for name in applied.submodules:
        click.echo(f"[rook] left as it is: the submodule {safe_line(name)}", err=True)
    if commit and applied.files:
        message = run_commit_message(found.prompt, applied.files, found.name, os.environ)
        repository.commit_files(applied.files, message)
    click.echo(f"[rook] {_summary(found.name, applied, commit=commit)}", err=True)


def _summary(name: str, applied: Applied, *, commit: bool) -> str:
    if not applied.files:
        return f"nothing to apply: your files have what {name} changed"
    done = "applied and committed" if commit else "applied"
    return f"{done} what {name} changed: {count(len(applied.files), 'file')}"


def _make_branch(found: RunChange, branch: str) -> None:
    repository, commit = found.repository, found.change.result
    ref = f"refs/heads/{branch}"
    if ask(repository.top, "check-ref-format", "--branch", branch) is None:
        raise NightrookError(f"{branch!r} is not a valid name of a branch")
    try:
        nothing = "0" * len(commit)
        do(repository.top, "update-ref", ref, commit, nothing, env=repository.env)
    except GitError as error:
        exists = ask(repository.top, "rev-parse", "--quiet", "--verify", ref, env=repository.env)
        if exists is None:
            raise
        raise NightrookError(
            f"there is a branch {branch!r} already: choose another name"
        ) from error
    click.echo(f"[rook] made the branch {branch} with what {found.name} changed", err=True)


def _unpack(run: str | None) -> None:
    folder, archive = files_of(run)
    names = unpack_files(archive, Path(folder.name), limit=Limits().refuse)
    click.echo(f"[rook] unpacked {count(len(names), 'file')} into {folder.name}/", err=True)
