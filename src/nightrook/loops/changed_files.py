"""The changes of an iteration, by snapshots of a git repository, or else by lists of all files.

A snapshot is a tree of git, made with an index and objects of the loop's own: the repository is
only read. Outside of a repository, names, sizes and times of files are compared.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from nightrook.loops.state import Change
from nightrook.runs.git.git_command import GitError, ask
from nightrook.runs.git.private_objects import private_env
from nightrook.runs.git.repository import Repository


class Snapshots:
    """Snapshots of all files that git does not ignore, and the changes between two of them.

    The index and the objects are kept in a folder of the loop: the repository is only read.
    """

    def __init__(self, repository: Repository, keep: Path) -> None:
        self._repository = repository
        self._keep = keep

    def take(self) -> Change | None:
        """Take a snapshot of the files; None if git fails."""
        tree = self._tree()
        return None if tree is None else Change(mark=tree)

    def change(self, before: Change | None) -> Change | None:
        """Compare the files with a snapshot; None if that is not possible."""
        now = self._tree()
        if now is None or before is None or before.mark is None:
            return None
        words = ("diff", "--numstat", "--no-ext-diff", "--no-textconv", before.mark, now, "--")
        numstat = self._ask(*words)
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
        if self._ask("add", "--all") is None:
            return None
        return (self._ask("write-tree") or "").strip() or None

    def _ask(self, *words: str) -> str | None:
        try:
            env = private_env(self._repository, self._keep)
        except GitError:
            return None
        return ask(self._repository.top, *words, env=env)


# guards: listing-no-link
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_FILES = 50_000
_TIME_LIMIT_S = 5.0
_LEFT_OUT = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", ".cache"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    }
)
"""Folders that tools write: large, and not part of the work."""

_Listing = dict[bytes, bytes]


class Listings:
    """Lists of all files, and the changes between two of them; links are never followed.

    The last list is kept in the loop's folder, so that a crash does not lose it.
    """

    def __init__(self, cwd: str, keep: Path, *, without: Path) -> None:
        self._cwd = cwd
        self._kept = keep / "files"
        self._without = os.fsencode(os.path.abspath(without))

    def take(self) -> Change | None:
        """List the files and keep the list; None if there are too many of them."""
        listing = self._list()
        if listing is None:
            return None
        data = b"\0".join(part for pair in listing.items() for part in pair)
        try:
            self._kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(self._kept, _NEW, 0o600), "wb") as file:  # guards: listing-private
                file.write(data)
        except OSError:  # such as a full disk
            return None
        return Change(mark=_mark(data))

    def change(self, before: Change | None) -> Change | None:
        """Compare the files with the last list; None if that is not possible."""
        then = self._read(before)
        if then is None or (now := self._list()) is None:
            return None
        changed = sum(then.get(name) != now.get(name) for name in then.keys() | now.keys())
        return Change(files=changed)

    def _read(self, before: Change | None) -> _Listing | None:
        try:
            data = self._kept.read_bytes()
        except OSError:
            return None
        if before is None or before.mark != _mark(data):
            return None
        parts = data.split(b"\0") if data else []
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def _list(self) -> _Listing | None:
        until = time.monotonic() + _TIME_LIMIT_S
        listing: _Listing = {}
        try:
            for name, details in self._walk(os.fsencode(self._cwd)):
                listing[name] = details
                # guards: listing-bounded
                if len(listing) > _MOST_FILES or time.monotonic() > until:
                    return None
        except OSError:
            return None  # a folder that cannot be read may hold anything
        return listing

    def _walk(self, top: bytes) -> Iterator[tuple[bytes, bytes]]:
        folders = [top]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        yield entry.path, _details(entry)
                    elif not self._is_left_out(entry):
                        folders.append(entry.path)

    def _is_left_out(self, entry: "os.DirEntry[bytes]") -> bool:
        return os.fsdecode(entry.name) in _LEFT_OUT or entry.path == self._without


def _details(entry: "os.DirEntry[bytes]") -> bytes:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return b"gone"  # removed while it was listed
    return b"%d %d %d" % (status.st_ino, status.st_size, status.st_mtime_ns)


def _mark(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
