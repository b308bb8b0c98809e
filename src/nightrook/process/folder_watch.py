"""Notices changes in folders: by inotify, or by polling where the system has none."""

import ctypes
import os
import struct
import time
from typing import NamedTuple

_MODIFY = 0x2
_MOVED_FROM = 0x40
_MOVED_TO = 0x80
_CREATE = 0x100
_DELETE = 0x200
_OVERFLOW = 0x4000
_IGNORED = 0x8000
_ONLY_FOLDERS = 0x01000000
_NO_LINKS = 0x02000000
_WANTED = _MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS | _NO_LINKS
_GONE = _DELETE | _MOVED_FROM
_HEAD = struct.Struct("iIII")
_CHUNK = 1 << 16
_QUICK_S = 0.05
_SLOW_S = 0.25
_QUICK_FOR_S = 5.0  # after a change

_Listing = dict[str, tuple[int, int]]


class Change(NamedTuple):
    """A change in a folder: a file was added, changed or removed; any file if it has no name."""

    folder: str
    name: str
    is_gone: bool = False


class FolderWatch:
    """Watches folders; `fileno` becomes readable when something changes in one of them."""

    def __init__(self, fd: int, libc: ctypes.CDLL) -> None:
        self._fd = fd
        self._libc = libc
        self._folders: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    @classmethod
    def opened(cls) -> "FolderWatch | None":
        """A watch of no folder yet; None where the system has none."""
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, AttributeError):
            return None
        return None if fd < 0 else cls(fd, libc)

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._fd

    def add(self, folder: str) -> bool:
        """Watch a folder; False if that is not possible: it is gone, or too many are watched."""
        if folder in self._numbers:
            return True
        number = self._libc.inotify_add_watch(self._fd, os.fsencode(folder), _WANTED)
        if number < 0:
            return False
        self._folders[number] = folder
        self._numbers[folder] = number
        return True

    def remove(self, folder: str) -> None:
        """Watch a folder no longer."""
        number = self._numbers.pop(folder, None)
        if number is not None:
            self._folders.pop(number, None)
            self._libc.inotify_rm_watch(self._fd, number)

    def read(self) -> set[Change]:
        """Return the changes since the last call."""
        changes: set[Change] = set()
        while True:
            try:
                data = os.read(self._fd, _CHUNK)
            except BlockingIOError:
                return changes
            except OSError:
                return changes | self._anything()
            changes |= self._parsed(data)

    def close(self) -> None:
        """Watch nothing any more."""
        os.close(self._fd)

    def _parsed(self, data: bytes) -> set[Change]:
        changes: set[Change] = set()
        at = 0
        while at + _HEAD.size <= len(data):
            number, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size + length
            name = os.fsdecode(data[at - length : at].split(b"\0", 1)[0])
            if mask & _OVERFLOW:
                changes |= self._anything()
            folder = self._folders.get(number)
            if folder is None:
                continue
            if mask & _IGNORED:  # it was removed
                self._folders.pop(number, None)
                self._numbers.pop(folder, None)
                changes.add(Change(folder, ""))
            else:
                changes.add(Change(folder, name, bool(mask & _GONE)))
        return changes

    def _anything(self) -> set[Change]:
        return {Change(folder, "") for folder in self._numbers}


class PolledFolderWatch:
    """A `FolderWatch` that compares names, sizes and times."""

    def __init__(self) -> None:
        self._seen: dict[str, _Listing] = {}
        self._changed_at = float("-inf")

    @property
    def pause_s(self) -> float:
        """The time until the next look: less while something changes."""
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
        """Return the changes since the last call."""
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
    """Return the size and time of each file in a folder, by name; of folders only the names."""
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
