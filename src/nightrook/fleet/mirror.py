"""Writes the chunks of a run on another machine into a run folder here, by position.

Chunks may be repeated, overlap or be missing: what is there already is compared, what is new is
appended, and a chunk beyond the end is left for later. Bytes that differ from those that are there
are refused and reported: nothing that was written is ever changed. Sizes are bounded, and the names
of files come from a fixed table, so a hostile worker can spoil only the run that it was given.
"""

import os
from enum import Enum
from typing import Self

from nightrook.fleet.shipped_files import FILES
from nightrook.fleet.subjects import ShippedLog
from nightrook.model.errors import NightrookError
from nightrook.store.files import open_file
from nightrook.store.run_folder import RunFolder

LARGEST_CHUNK = 1024 * 1024
DEFAULT_LARGEST = 10_000_000_000
_SLACK = 64 * 1024 * 1024  # times, questions and the like, beside the output


class Written(Enum):
    """Result of writing a chunk."""

    NEW = "new"
    KNOWN = "known"
    BEYOND = "beyond"
    """Bytes before it are missing."""

    REFUSED = "refused"


class Mirror:
    """The files of one run folder that chunks are written to; use it as a context manager."""

    def __init__(self, folder: RunFolder, largest: int | None = None) -> None:
        self.folder = folder
        self.problem: str | None = None
        """Reason why a chunk was refused."""
        self.missing: dict[ShippedLog, int] = {}
        """The position in each log from which bytes are missing, although later ones came."""
        self._left = (largest or DEFAULT_LARGEST) + _SLACK
        self._files: dict[ShippedLog, int] = {}
        self._sizes: dict[ShippedLog, int] = {}
        for log, name in FILES.items():
            if (size := _size(folder, name)) is not None:
                self._sizes[log] = size
                self._left -= size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()

    @property
    def sizes(self) -> dict[ShippedLog, int]:
        """Return the bytes of each log that are here."""
        return dict(self._sizes)

    def has(self, sizes: dict[str, int]) -> bool:
        """True if all logs are here, with these sizes."""
        return not self.lacks(sizes)

    def lacks(self, sizes: dict[str, int]) -> dict[ShippedLog, int]:
        """The logs that are not whole here, and how many bytes of each are."""
        return {log: here for log in FILES if (here := self._sizes.get(log, 0)) < sizes.get(log, 0)}

    def write(self, log: ShippedLog, offset: int, data: bytes) -> Written:
        """Write a chunk at its position."""
        size = self._sizes.get(log, 0)
        if offset > size:
            self.missing[log] = size
            return Written.BEYOND
        known = data[: size - offset]
        if known and not self._is_here(log, offset, known):  # guards: differing-bytes-refused
            return self._refuse(f"{FILES[log]} was sent again with other bytes at {offset}")
        new = data[len(known) :]
        if not new:
            return Written.KNOWN
        if len(data) > LARGEST_CHUNK or len(new) > self._left:
            return self._refuse(f"{FILES[log]} is larger than the run may record")
        self._append(log, new)
        return Written.NEW

    def _append(self, log: ShippedLog, data: bytes) -> None:
        if log not in self._files:
            with self.folder.opened() as folder:
                self._files[log] = folder.append(FILES[log])
        left = memoryview(data)
        while left:
            left = left[os.write(self._files[log], left) :]
        self._sizes[log] = self._sizes.get(log, 0) + len(data)
        self._left -= len(data)
        if self._sizes[log] > self.missing.get(log, self._sizes[log]):
            del self.missing[log]

    def _is_here(self, log: ShippedLog, offset: int, data: bytes) -> bool:
        with self.folder.opened() as folder:
            return folder.read_at(FILES[log], offset, len(data)) == data

    def _refuse(self, problem: str) -> Written:
        self.problem = self.problem or problem
        return Written.REFUSED


def _size(folder: RunFolder, name: str) -> int | None:
    try:
        fd = open_file(folder.path / name)
    except NightrookError:
        return None
    if fd is None:
        return None
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)
