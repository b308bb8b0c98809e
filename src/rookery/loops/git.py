"""What a repository tells of an iteration; only what the loop made itself is ever changed."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from rookery.loops.state import Change
from rookery.model.errors import RookeryError

_TIME_LIMIT_S = 120.0


class GitError(RookeryError):
    """The repository is not in a state that the loop can work with."""


def root(cwd: str) -> str | None:
    """The repository that a folder is in; None if it is in none, or there is no git."""
    told = _ask(cwd, "rev-parse", "--show-toplevel")
    return told.strip() or None if told is not None else None


def is_watched(cwd: str) -> bool:
    """Whether git can tell what changes in a folder: it is in a repository that looks at it."""
    return root(cwd) is not None and _ask(cwd, "check-ignore", "--quiet", ".") is None


def is_clean(cwd: str) -> bool:
    """Whether nothing waits to be committed."""
    return uncommitted(cwd) == []


def uncommitted(cwd: str) -> list[str] | None:
    """The files that wait to be committed, from the repository's top; None if git does not tell."""
    told = _ask(cwd, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    return None if told is None else [entry[3:] for entry in told.split("\0") if entry]


def changed_after(cwd: str, moment: float) -> list[str]:
    """The files that wait to be committed and were touched later than that."""
    top = root(cwd) or cwd
    found = uncommitted(cwd) or ()
    return [name for name in found if _touched(os.path.join(top, name)) > moment]


def _touched(path: str) -> float:
    """When a file was last changed, or removed: then a folder above it tells."""
    while True:
        try:
            return os.lstat(path).st_ctime  # whoever writes, moves or copies cannot set it back
        except OSError:
            path = os.path.dirname(path)


def commit(cwd: str, message: str) -> str | None:
    """Commit everything; give the commit's short name, None if there was nothing to commit."""
    if is_clean(cwd):
        return None
    _do(cwd, "add", "--all")
    _do(cwd, "commit", "--quiet", "--no-verify", "--message", message)
    return (_ask(cwd, "rev-parse", "--short", "HEAD") or "").strip() or None


def add_worktree(cwd: str, path: Path, branch: str) -> None:
    """Make a worktree on a new branch; one that is there already is left as it is."""
    if path.exists():
        return
    _do(cwd, "worktree", "add", "--quiet", "-b", branch, str(path))


class Snapshots:
    """Pictures of all files, ignored ones aside, and what changed between two of them.

    Index and objects are kept in a folder of ours: the repository is only read.
    """

    def __init__(self, cwd: str, keep: Path) -> None:
        self._cwd = cwd
        self._keep = keep

    def take(self) -> Change | None:
        """The state of the files as they are now; None without a repository."""
        tree = self._tree()
        return None if tree is None else Change(mark=tree)

    def change(self, before: Change | None) -> Change | None:
        """What changed since a picture was taken; None if nobody can tell."""
        now = self._tree()
        if now is None or before is None or before.mark is None:
            return None
        told = _ask(self._cwd, "diff", "--numstat", before.mark, now, apart=self._apart())
        if told is None:
            return None
        rows = [line.split("\t") for line in told.split("\n") if line.count("\t") >= 2]
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
        apart = self._apart()
        if _ask(top, "add", "--all", apart=apart) is None:
            return None
        return (_ask(top, "write-tree", apart=apart) or "").strip() or None

    def _apart(self) -> Mapping[str, str]:
        """What has git write to our own folder, and read the repository's objects as well."""
        objects = (_ask(self._cwd, "rev-parse", "--git-path", "objects") or "").strip()
        return {
            "GIT_INDEX_FILE": str(self._keep / "index"),
            "GIT_OBJECT_DIRECTORY": str(self._keep / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(self._cwd, objects),
        }


def _ask(cwd: str, *words: str, apart: Mapping[str, str] | None = None) -> str | None:
    """What a git command prints; None if it fails."""
    try:
        done = _git(cwd, words, apart)
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
    cwd: str, words: tuple[str, ...], apart: Mapping[str, str] | None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", "--no-optional-locks", *words],
        cwd=cwd,
        env={**os.environ, **apart} if apart else None,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        stdin=subprocess.DEVNULL,
        timeout=_TIME_LIMIT_S,
        check=False,
    )
