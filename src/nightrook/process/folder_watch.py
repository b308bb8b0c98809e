"""Notices what changes in folders, without looking at them: inotify, where the system has it."""

import ctypes
import os
import struct
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


class Change(NamedTuple):
    """Something in a folder has come, changed or gone; without a name, anything may have."""

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
        """What has changed since the last call."""
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
