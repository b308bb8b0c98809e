"""Opens a log of a run to read it, whether it is packed or not."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nightrook.store.file_names import PACKED_SUFFIXES
from nightrook.store.files import open_file

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_ATTEMPTS = 2  # a log may be packed or unpacked between two looks


class LogFile(Protocol):
    """A log that is open to read."""

    @property
    def size(self) -> int:
        """How many bytes it has now."""

    def read_at(self, size: int, offset: int) -> bytes:
        """Read at most so many bytes at an offset; nothing at its end."""

    def close(self) -> None:
        """Close it."""


class _RawLog:
    """A log as its recorder wrote it, or writes it now."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @property
    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def read_at(self, size: int, offset: int) -> bytes:
        return os.pread(self._fd, size, offset)

    def close(self) -> None:
        os.close(self._fd)


class LogStream(io.RawIOBase):
    """A log as a file that is read from its beginning to its end."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._offset = 0

    def readable(self) -> bool:
        """Whether it can be read: it always can."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read the next bytes into a buffer; return how many they are."""
        view = memoryview(buffer).cast("B")
        data = self._log.read_at(len(view), self._offset)
        view[: len(data)] = data
        self._offset += len(data)
        return len(data)

    def close(self) -> None:
        """Close the log."""
        if not self.closed:
            self._log.close()
        super().close()


def open_log(path: Path) -> LogFile | None:
    """Open a log by the path that its recorder gave it; None if there is none.

    If it is there both packed and as it was written, the latter is read.
    """
    for _ in range(_ATTEMPTS):
        raw = open_file(path)
        if raw is not None:
            return _RawLog(raw)
        if (log := open_packed(path)) is not None:
            return log
    return None


def open_packed(path: Path) -> LogFile | None:
    """Open the packed form of a log; None if there is none."""
    for suffix in PACKED_SUFFIXES:
        packed = path.with_name(path.name + suffix)
        fd = open_file(packed)
        if fd is not None:
            from nightrook.store.packed.format import CODECS, PackedLog  # few runs need it

            try:
                return PackedLog(fd, CODECS[suffix], packed)
            except BaseException:
                os.close(fd)
                raise
    return None
