"""Git worktrees for runs: one for each, on a new branch, so that your files are left alone."""

import os
from pathlib import Path

import msgspec

from rookery.runs.git.git_command import GitError
from rookery.runs.git.repository import add_worktree, find_repository
from rookery.store.names import branch_of, new_names

_FOLDER = "worktrees"


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
