"""Git: what an iteration changed, commits and worktrees. Only the loop's own work is changed."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from rookery.loops.state import Change
from rookery.model.errors import RookeryError

_TIME_LIMIT_S = 120.0


class GitError(RookeryError):
    """A git command failed."""


def root(cwd: str) -> str | None:
    """The top folder of a repository; None outside of one, or without git."""
    top = _ask(cwd, "rev-parse", "--show-toplevel")
    return top.strip() or None if top is not None else None


def is_tracked(cwd: str) -> bool:
    """Whether a folder is in a repository and not ignored by it."""
    return root(cwd) is not None and _ask(cwd, "check-ignore", "--quiet", ".") is None


def is_clean(cwd: str) -> bool:
    """Whether there are no uncommitted changes."""
    return uncommitted(cwd) == []


def uncommitted(cwd: str) -> list[str] | None:
    """The files with uncommitted changes, relative to the top; None if git fails."""
    status = _ask(cwd, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    return None if status is None else [entry[3:] for entry in status.split("\0") if entry]


def changed_after(cwd: str, moment: float) -> list[str]:
    """The files with uncommitted changes that were made later than this."""
    top = root(cwd) or cwd
    return [name for name in uncommitted(cwd) or () if _touched(os.path.join(top, name)) > moment]


def _touched(path: str) -> float:
    """When a file was last changed; of a removed one, when the folder above it was."""
    while True:
        try:
            return os.lstat(path).st_ctime  # unlike st_mtime, no program can set it back
        except OSError:
            path = os.path.dirname(path)


def commit(cwd: str, message: str) -> str | None:
    """Commit everything and return the short hash; None if there was nothing to commit."""
    if is_clean(cwd):
        return None
    _do(cwd, "add", "--all")
    _do(cwd, "commit", "--quiet", "--no-verify", "--message", message)
    return (_ask(cwd, "rev-parse", "--short", "HEAD") or "").strip() or None


def add_worktree(cwd: str, path: Path, branch: str) -> None:
    """Add a worktree on a new branch; an existing one is left as it is."""
    if path.exists():
        return
    _do(cwd, "worktree", "add", "--quiet", "-b", branch, str(path))


class Snapshots:
    """Snapshots of all files that git does not ignore, and what changed between two of them.

    The index and the objects are kept in a folder of the loop: the repository is only read.
    """

    def __init__(self, cwd: str, keep: Path) -> None:
        self._cwd = cwd
        self._keep = keep

    def take(self) -> Change | None:
        """Take a snapshot of the files; None without a repository."""
        tree = self._tree()
        return None if tree is None else Change(mark=tree)

    def change(self, before: Change | None) -> Change | None:
        """What changed since a snapshot; None if that cannot be known."""
        now = self._tree()
        if now is None or before is None or before.mark is None:
            return None
        numstat = _ask(self._cwd, "diff", "--numstat", before.mark, now, env=self._environment())
        if numstat is None:
            return None
        rows = [line.split("\t") for line in numstat.split("\n") if line.count("\t") >= 2]
        numbers = [(int(a), int(b)) for a, b, *_ in rows if a.isdigit() and b.isdigit()]
        return Change(
            files=len(rows),
            added=sum(a for a, _ in numbers),
            removed=sum(b for _, b in numbers),
            mark=now,
        )

    def _tree(self) -> str | None:
        top = root(self._cwd)
        if top is None:
            return None
        (self._keep / "objects").mkdir(parents=True, exist_ok=True)
        env = self._environment()
        if _ask(top, "add", "--all", env=env) is None:
            return None
        return (_ask(top, "write-tree", env=env) or "").strip() or None

    def _environment(self) -> Mapping[str, str]:
        """Variables that make git write to the loop's folder; it also reads the repository."""
        objects = (_ask(self._cwd, "rev-parse", "--git-path", "objects") or "").strip()
        return {
            "GIT_INDEX_FILE": str(self._keep / "index"),
            "GIT_OBJECT_DIRECTORY": str(self._keep / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(self._cwd, objects),
        }


def _ask(cwd: str, *words: str, env: Mapping[str, str] | None = None) -> str | None:
    """Run a git command and return its output; None if it fails."""
    try:
        done = _git(cwd, words, env)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _do(cwd: str, *words: str) -> None:
    try:
        done = _git(cwd, words, None)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {words[0]} failed: {error}") from error
    if done.returncode:
        first = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise GitError(f"git {words[0]} failed: {first}")


def _git(
    cwd: str, words: tuple[str, ...], env: Mapping[str, str] | None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", "--no-optional-locks", *words],
        cwd=cwd,
        env={**os.environ, **env} if env else None,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        stdin=subprocess.DEVNULL,
        timeout=_TIME_LIMIT_S,
        check=False,
    )
