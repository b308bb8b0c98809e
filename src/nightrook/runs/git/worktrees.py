"""Git worktrees for runs: one for each, on a new branch, so that your files are left alone."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nightrook.runs.git.changes import Change
from nightrook.runs.git.git_command import GitError, ask
from nightrook.runs.git.private_objects import private_env
from nightrook.runs.git.repository import Repository, add_worktree, find_repository
from nightrook.runs.git.snapshot import pending, snapshot
from nightrook.store.names import branch_of, new_names

_FOLDER = "worktrees"
_OBJECTS = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
_MESSAGE = "Changes that the agent did not commit\n\nMade by rook."


class Worktree(msgspec.Struct, frozen=True, kw_only=True):
    """A worktree that is added when its run starts."""

    source: str
    """A folder of the repository."""

    path: str
    cwd: str
    """The folder in it that matches `source`."""

    @property
    def name(self) -> str:
        """The name of its folder, which its run gets too."""
        return Path(self.path).name

    def add(self) -> None:
        """Add it, with the files of the last commit; a GitError says why that is not possible."""
        Path(self.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        add_worktree(self.source, Path(self.path), branch_of(self.path))
        Path(self.cwd).mkdir(parents=True, exist_ok=True)  # it may not be in the last commit


def new_worktree(cwd: str, home: Path) -> Worktree:
    """Choose where the worktree of a new run will be; a GitError outside of a repository."""
    repository = find_repository(cwd)
    if repository is None:
        raise GitError(f"{cwd} isn't in a git repository: leave out --worktree")
    parent = Path(os.path.abspath(home)) / _FOLDER
    path = next(parent / name for name in new_names() if not os.path.lexists(parent / name))
    return Worktree(source=cwd, path=str(path), cwd=folder_in(path, cwd, repository.top))


def folder_in(worktree: Path, cwd: str, top: str) -> str:
    """The folder in a worktree that matches a folder of the repository with this top folder."""
    return os.path.normpath(worktree / os.path.relpath(os.path.realpath(cwd), top))


def worktree_change(
    worktree: str, branch: str, keep: Path, *, stored: bool = False
) -> tuple[Repository, Change]:
    """Return the changes in a worktree since it was added, and its repository.

    What is not committed there becomes a commit in `keep`, a folder of ours, or, if it should be
    stored, in the repository itself. No ref leads to it.
    """
    repository = find_repository(worktree) if Path(worktree).is_dir() else None
    if repository is None:
        raise GitError(f"the worktree {worktree} is gone: look for its branch {branch}")
    env = private_env(repository, keep)
    objects = {name: env[name] for name in _OBJECTS}
    if stored:
        env = {name: value for name, value in env.items() if name not in objects}
    files = pending(repository, env, untracked=True)
    taken = snapshot(repository, env, files, message=_MESSAGE)
    base = _start_of(repository, env, branch) or taken.head or taken.commit
    return repository, Change(base=base, result=taken.commit, env={} if stored else objects)


def _start_of(repository: Repository, env: Mapping[str, str], branch: str) -> str | None:
    """The commit that a worktree was added with: the oldest entry in the log of its branch."""
    full = f"refs/heads/{branch}"
    words = ("log", "--walk-reflogs", "--no-show-signature", "--format=%H", full, "--")
    entries = (ask(repository.top, *words, env=env) or "").split()
    return entries[-1] if entries else None
