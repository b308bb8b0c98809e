"""What a repository tells of an iteration; only what the loop made itself is ever changed."""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from rookery.core.errors import RookeryError
from rookery.loop.state import Change

_TIME_LIMIT_S = 60.0


class GitError(RookeryError):
    """The repository is not in a state that the loop can work with."""


def root(cwd: str) -> str | None:
    """The repository that a folder is in; None if it is in none, or there is no git."""
    told = _ask(cwd, "rev-parse", "--show-toplevel")
    return told.strip() or None if told is not None else None


def is_clean(cwd: str) -> bool:
    """Whether nothing waits to be committed."""
    told = _ask(cwd, "status", "--porcelain", "--untracked-files=normal")
    return told is not None and not told.strip()


def mark(cwd: str) -> str | None:
    """A word for the state of all files, the same as long as none changes; None without git."""
    head = _ask(cwd, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    diff = _ask(cwd, "diff", "--binary", "HEAD") if head else ""
    others = _ask(cwd, "ls-files", "--others", "--exclude-standard", "-z")
    if diff is None or others is None:
        return None
    told = hashlib.sha256(f"{head}\0{diff}\0".encode("utf-8", "surrogateescape"))
    for name in sorted(filter(None, others.split("\0"))):
        told.update(f"{name}\0{_stamp(Path(cwd, name))}\0".encode("utf-8", "replace"))
    return told.hexdigest()


def change(cwd: str, before: Change | None) -> Change | None:
    """What changed since a mark was taken; None without git."""
    now = mark(cwd)
    if now is None or before is None or before.mark is None:
        return None
    if now == before.mark:
        return Change(mark=now)
    counts = _ask(cwd, "diff", "--numstat", "HEAD") or ""
    others = _ask(cwd, "ls-files", "--others", "--exclude-standard", "-z") or ""
    rows = [line.split("\t") for line in counts.split("\n") if line.count("\t") >= 2]
    files = len(rows) + len([name for name in others.split("\0") if name])
    numbers = [(int(a), int(b)) for a, b, *_ in rows if a.isdigit() and b.isdigit()]
    return Change(
        files=max(1, files),  # what was committed in the meantime changed, too
        added=sum(a for a, _ in numbers),
        removed=sum(b for _, b in numbers),
        mark=now,
    )


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


def _stamp(path: Path) -> str:
    try:
        told = os.lstat(path)
    except OSError:
        return ""
    return f"{told.st_size} {told.st_mtime_ns}"


def _ask(cwd: str, *words: str) -> str | None:
    """What a git command prints; None if it fails."""
    try:
        done = _git(cwd, words)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _do(cwd: str, *words: str) -> None:
    try:
        done = _git(cwd, words)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {words[0]} failed: {error}") from error
    if done.returncode:
        first = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise GitError(f"git {words[0]} failed: {first}")


def _git(cwd: str, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", "--no-optional-locks", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        stdin=subprocess.DEVNULL,
        timeout=_TIME_LIMIT_S,
        check=False,
    )
