"""What a folder outside any repository tells of an iteration: its files, their sizes and times."""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from rookery.loops.state import Change

_MOST_FILES = 50_000
_TIME_LIMIT_S = 5.0
_LEFT_OUT = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", ".cache"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    }
)
"""Folders of tools: large, and no part of anybody's work."""

_Found = dict[bytes, bytes]


class Listings:
    """Lists of all files, and what changed between two of them; links are never followed.

    The last list is kept in a folder of ours, so that a crash does not lose it.
    """

    def __init__(self, cwd: str, keep: Path, *, without: Path) -> None:
        self._cwd = cwd
        self._kept = keep / "files"
        self._without = os.fsencode(os.path.abspath(without))

    def take(self) -> Change | None:
        """The state of the files as they are now; None if there are too many to tell."""
        found = self._list()
        if found is None:
            return None
        data = b"\0".join(part for pair in found.items() for part in pair)
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        self._kept.write_bytes(data)
        return Change(mark=_mark(data))

    def change(self, before: Change | None) -> Change | None:
        """What changed since the last list was taken; None if nobody can tell."""
        then = self._read(before)
        if then is None or (now := self._list()) is None:
            return None
        changed = sum(then.get(name) != now.get(name) for name in then.keys() | now.keys())
        return Change(files=changed)

    def _read(self, before: Change | None) -> _Found | None:
        try:
            data = self._kept.read_bytes()
        except OSError:
            return None
        if before is None or before.mark != _mark(data):
            return None
        parts = data.split(b"\0") if data else []
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def _list(self) -> _Found | None:
        until = time.monotonic() + _TIME_LIMIT_S
        found: _Found = {}
        try:
            for name, told in self._walk(os.fsencode(self._cwd)):
                found[name] = told
                if len(found) > _MOST_FILES or time.monotonic() > until:
                    return None
        except OSError:
            return None  # a folder that cannot be read may hold anything
        return found

    def _walk(self, top: bytes) -> Iterator[tuple[bytes, bytes]]:
        folders = [top]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        yield entry.path, _told(entry)
                    elif not self._is_left_out(entry):
                        folders.append(entry.path)

    def _is_left_out(self, entry: "os.DirEntry[bytes]") -> bool:
        return os.fsdecode(entry.name) in _LEFT_OUT or entry.path == self._without


def _told(entry: "os.DirEntry[bytes]") -> bytes:
    try:
        seen = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return b"gone"  # while it was looked at
    return b"%d %d %d" % (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def _mark(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
