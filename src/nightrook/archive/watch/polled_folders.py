"""Notices what changes in folders by looking at them: recent files often, all of them at times."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_RECENT_S = 600.0  # a file that changed within this time is looked at often
_SWEEP_S = 2.0  # at least, between two looks at everything
_REST = 150  # times as long as a look at everything took, before the next one


class FileStamp(NamedTuple):
    """A file, and what changes when it is written to."""

    path: str
    inode: int
    size: int
    mtime_ns: int


class PolledFolders:
    """Compares files with what they were; folders are added once, and not those below them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._folders: dict[str, set[str]] = {}
        self._stamps: dict[str, FileStamp] = {}
        self._recent: set[str] = set()
        self._swept_at = float("-inf")
        self._pause_s = _SWEEP_S

    def __len__(self) -> int:
        return len(self._folders)

    def add(self, folder: str) -> None:
        """Look at a folder from now on; what is in it now is not new."""
        self._folders[folder] = set()
        for _ in self._compare(folder):
            pass

    def look(self) -> set[str]:
        """The paths that came, changed or went since the last call, as far as it looked."""
        began = self._clock()
        if self._folders and began - self._swept_at >= self._pause_s:
            changed = {path for folder in list(self._folders) for path in self._compare(folder)}
            self._swept_at = self._clock()
            self._pause_s = max(_SWEEP_S, _REST * (self._swept_at - began))
            self._forget_old()
            return changed
        return {path for path in list(self._recent) if self._has_changed(path, _stamp(path))}

    def _compare(self, folder: str) -> Iterator[str]:
        """Yield what is different in a folder; one that is gone is not looked at again."""
        try:
            with os.scandir(folder) as entries:
                listed = [(e.path, e.is_file(follow_symlinks=False)) for e in entries]
        except OSError:
            for path in self._folders.pop(folder, set()):
                self._has_changed(path, None)
            yield folder
            return
        known, now = self._folders[folder], {path for path, _ in listed}
        self._folders[folder] = now
        for path, is_file in listed:
            if (is_file and self._has_changed(path, _stamp(path))) or (
                not is_file and path not in known
            ):
                yield path
        for path in known - now:
            self._has_changed(path, None)
            yield path

    def _has_changed(self, path: str, stamp: FileStamp | None) -> bool:
        before = self._stamps.get(path)
        if stamp is None:
            self._stamps.pop(path, None)
            self._recent.discard(path)
        elif stamp != before:
            self._stamps[path] = stamp
            self._recent.add(path)
        return stamp != before

    def _forget_old(self) -> None:
        oldest = time.time_ns() - int(_RECENT_S * 1e9)
        self._recent = {path for path in self._recent if self._stamps[path].mtime_ns > oldest}


def _stamp(path: str) -> FileStamp | None:
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return FileStamp(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
