"""Collects the changes of a run in a worker's repository, to which an agent had full access."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISDIR

from nightrook.fleet.repository.bundle import BASE, RESULT, write_bundle
from nightrook.fleet.repository.files import archive_files
from nightrook.fleet.repository.formats import Collected, Unpacked
from nightrook.fleet.repository.limits import Limits, left_out_note, some
from nightrook.model.errors import NightrookError
from nightrook.runs.git.git_command import GitError, ask
from nightrook.runs.git.private_objects import private_env
from nightrook.runs.git.repository import Repository
from nightrook.runs.git.snapshot import pending, snapshot
from nightrook.store.file_names import RESULT_BUNDLE, RESULT_FILES

_MESSAGE = "Changes that the agent did not commit\n\nMade by rook at the end of the run."


class CollectError(NightrookError):
    """The changes of a run cannot be collected."""


def collect(run: Unpacked, into: Path, *, limits: Limits | None = None) -> Collected:
    """Write the changes of a run to a folder of ours: `result.bundle`, and `files.tar`.

    Commits since the start, and the rest as a commit of its own; nothing if nothing changed. Files
    outside of git come by the patterns of the job. A CollectError says why it is not possible.
    """
    limits = limits or Limits()
    repository = _repository(run.top)
    try:
        env = private_env(repository, into)
        changed = pending(repository, env, untracked=True)
        limits.check(
            "what the run changed", changed.size, "have the agent remove what is not needed"
        )
        date = f"@{int(time.time())} +0000"
        taken = snapshot(repository, env, changed, message=_MESSAGE, date=date)
        bundle = _bundle(repository, env, run, taken.commit, into / RESULT_BUNDLE)
        notes = left_out_note(taken.left_out) + _other_branches(repository, env, taken.commit)
    except (GitError, OSError) as error:
        message = f"what the run changed cannot be read from its repository: {error}"
        raise CollectError(message) from error
    if bundle is not None:
        limits.check("what the run changed", bundle.stat().st_size, "look at it on the worker")
    archive, skipped = archive_files(
        repository, env, into / RESULT_FILES, patterns=run.files, limit=limits.refuse
    )
    return Collected(
        bundle=None if bundle is None else str(bundle),
        files=None if archive is None else str(archive),
        notes=(*notes, *skipped),
    )


def _repository(top: str) -> Repository:
    """The repository that was unpacked there; an agent cannot lead us to another one."""
    git_dir = os.path.join(top, ".git")
    for folder in (top, git_dir, os.path.join(git_dir, "objects")):
        try:
            is_folder = S_ISDIR(os.lstat(folder).st_mode)  # guards: collection-no-link
        except OSError:
            is_folder = False
        if not is_folder:
            raise CollectError(f"{folder} is no longer a folder: the run removed or replaced it")
    return Repository(
        top=top,
        git_dir=git_dir,
        common_dir=git_dir,
        objects=os.path.join(git_dir, "objects"),
        refs=os.path.join(git_dir, "refs"),
        branch=None,
    )


def _bundle(
    repository: Repository, env: Mapping[str, str], run: Unpacked, commit: str, path: Path
) -> Path | None:
    if commit == run.base:
        return None
    without = [] if run.head is None else [run.head]
    write_bundle(repository.top, path, {BASE: run.base, RESULT: commit}, without=without, env=env)
    return path


def _other_branches(repository: Repository, env: Mapping[str, str], commit: str) -> list[str]:
    words = ("for-each-ref", "--format=%(refname:short)", f"--no-merged={commit}", "refs/heads")
    names = (ask(repository.top, *words, env=env) or "").split()
    if not names:
        return []
    return [f"only what is checked out comes back, and not the other branches: {some(names)}"]
