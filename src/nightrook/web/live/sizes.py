"""Notices what changes in folders by looking at them, where the system cannot tell."""

import os
import time

from nightrook.process.folder_watch import Change

_QUICK_S = 0.05
_SLOW_S = 0.25
_QUICK_FOR_S = 5.0  # after a change

_Listing = dict[str, tuple[int, int]]


class FolderSizes:
    """Does what a `FolderWatch` does, by comparing names, sizes and times."""

    def __init__(self) -> None:
        self._seen: dict[str, _Listing] = {}
        self._changed_at = float("-inf")

    @property
    def pause_s(self) -> float:
        """How long to wait before the next look: less while something changes."""
        is_busy = time.monotonic() - self._changed_at < _QUICK_FOR_S
        return _QUICK_S if is_busy else _SLOW_S

    def add(self, folder: str) -> bool:
        """Watch a folder; False if it is not there."""
        listing = _listing(folder)
        if listing is None:
            return False
        self._seen.setdefault(folder, listing)
        return True

    def remove(self, folder: str) -> None:
        """Watch a folder no longer."""
        self._seen.pop(folder, None)

    def read(self) -> set[Change]:
        """What has changed since the last call."""
        changes: set[Change] = set()
        for folder, before in list(self._seen.items()):
            now = _listing(folder)
            if now is None:
                del self._seen[folder]
                changes.add(Change(folder, ""))
                continue
            self._seen[folder] = now
            changes |= {Change(folder, name) for name, at in now.items() if before.get(name) != at}
            changes |= {Change(folder, name, True) for name in before.keys() - now.keys()}
        if changes:
            self._changed_at = time.monotonic()
        return changes

    def close(self) -> None:
        """Watch nothing any more."""
        self._seen.clear()


def _listing(folder: str) -> _Listing | None:
    """The size and time of what is in a folder, by name; of folders only that they are there."""
    listing: _Listing = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    listing[entry.name] = (0, 0)
                    continue
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # it was removed meanwhile
                listing[entry.name] = (found.st_size, found.st_mtime_ns)
    except OSError:
        return None
    return listing
