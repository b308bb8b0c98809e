"""Writes the exit of the agent's process, even on a full disk. Standard library only."""

from __future__ import annotations

import errno
import os

from nightrook.process.plain_file import open_plain

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

_RESERVED = 4096  # bytes that are reserved at the start, while the disk has space
_FRESH = os.O_RDWR | os.O_CREAT | os.O_TRUNC


class ExitFile:
    """A file whose space is reserved now and which appears, whole, when it is written."""

    def __init__(self, folder_fd: int, name: str) -> None:
        self._folder_fd = folder_fd
        self._name = name
        self._unfinished = f"{name}.part"
        self._fd = open_plain(self._unfinished, _FRESH, folder_fd)
        try:
            os.write(self._fd, b" " * _RESERVED)  # guards: exit-space-reserved
        except OSError:
            return

    def write(self, fields: dict[str, Any]) -> None:
        """Write the fields as JSON, to the disk, and give the file its name."""
        import json  # the start of the agent does not wait for it

        # guards: exit-file-in-place
        if not self._is_in_place():  # the agent put another file there
            self._replace()
        data = json.dumps(fields).encode() + b"\n"
        try:
            os.pwrite(self._fd, data, 0)
            os.ftruncate(self._fd, len(data))
            os.fsync(self._fd)  # guards: exit-synced
        except OSError as error:
            # guards: exit-on-full-disk
            if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
                raise
        os.rename(
            self._unfinished, self._name, src_dir_fd=self._folder_fd, dst_dir_fd=self._folder_fd
        )
        os.fsync(self._folder_fd)  # guards: exit-name-synced

    def _is_in_place(self) -> bool:
        try:
            named = os.stat(self._unfinished, dir_fd=self._folder_fd, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(named, os.fstat(self._fd))

    def _replace(self) -> None:
        self._unfinished = f".{self._name}.{os.urandom(8).hex()}.part"
        os.close(self._fd)
        self._fd = open_plain(self._unfinished, _FRESH | os.O_EXCL, self._folder_fd)
