"""Standard input of rook: detects data, reads it as text, and passes it on to an agent."""

import asyncio
import fcntl
import os
import select
import stat
import termios
import threading
from collections.abc import Callable
from contextlib import suppress

from nightrook.model.errors import RunFolderError
from nightrook.store.run_folder import RunFolder

STDIN = 0
PATIENCE_S = 3.0
"""Seconds to wait for the first byte; Claude Code waits as long (2.1)."""

_CHUNK = 1 << 16
_SIZE_OF_INT = 4


def is_data(fd: int = STDIN) -> bool:
    """True if a standard input may have data: a pipe, a socket or a file that can be read.

    A terminal, /dev/null, any other device and a closed input never have any.
    """
    try:
        mode = os.fstat(fd).st_mode
        writes_only = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
    except OSError:
        return False
    return not writes_only and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode))


def has_begun(fd: int = STDIN, *, patience_s: float | None = PATIENCE_S) -> bool:
    """Wait for the first byte or the end of an input; False if neither came in time."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if patience_s is None else patience_s * 1000))


def read_text(fd: int = STDIN, *, most: int, on_wait: Callable[[], None]) -> str:
    """Read an input to its end, but not many more than `most` bytes; wrong UTF-8 is replaced.

    Calls `on_wait` once if it takes long.
    """
    data, is_slow = bytearray(), False
    while len(data) <= most:
        if not is_slow and not has_begun(fd):
            is_slow = True
            on_wait()
        if not (more := _read(fd)):
            break
        data += more
    return data.decode("utf-8", "replace")


def has_unread(fd: int = STDIN) -> bool:
    """True if bytes have arrived that nothing has read."""
    try:
        answer = fcntl.ioctl(fd, termios.FIONREAD, bytes(_SIZE_OF_INT))
    except OSError:
        return False
    return any(answer)


def _read(fd: int) -> bytes:
    """Read the next bytes; wait for them even if another program made the input non-blocking."""
    while True:
        has_begun(fd, patience_s=None)
        try:
            return os.read(fd, _CHUNK)
        except BlockingIOError:
            continue


class PipedInput:
    """Passes an input on to an agent byte for byte, as it comes, and records it.

    A thread copies it piece by piece, so neither its length nor a stalled agent costs memory.
    """

    def __init__(self, source: int, *, max_log_size: int | None) -> None:
        self._source = source
        self._room = max_log_size
        self.reading, self._writing = os.pipe()
        """The first is the agent's end; it is ours until `begin`."""
        os.set_blocking(self._writing, False)
        self._stopped, self._stop = os.pipe()
        self._thread: threading.Thread | None = None
        self._log: int | None = None

    def begin(self, folder: RunFolder, first: bytes) -> None:
        """Start to copy, once the agent has its end; `first` comes before the input."""
        os.close(self.reading)
        self._thread = threading.Thread(target=self._copy, args=(folder, first), daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Stop copying: the agent has ended."""
        os.close(self._stop)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        for fd in (self._stopped, self._source):
            os.close(fd)

    def _copy(self, folder: RunFolder, first: bytes) -> None:
        try:
            self._pass_on(folder, first)
            while self._waits_for(self._source, select.POLLIN) and (data := _read(self._source)):
                self._pass_on(folder, data)
        except OSError:
            return  # the agent reads no more, or the input is gone
        finally:
            os.close(self._writing)
            if self._log is not None:
                os.close(self._log)

    def _pass_on(self, folder: RunFolder, data: bytes) -> None:
        with suppress(OSError, RunFolderError):  # a full disk must not keep it from the agent
            self._record(folder, data)
        left = memoryview(data)
        while left and self._waits_for(self._writing, select.POLLOUT):
            left = left[os.write(self._writing, left) :]

    def _record(self, folder: RunFolder, data: bytes) -> None:
        """Append to `stdin.raw`, which an empty input does not have."""
        kept = data if self._room is None else data[: self._room]
        if not kept:
            return
        if self._log is None:
            self._log = folder.open_log("stdin")
        os.write(self._log, kept)
        if self._room is not None:
            self._room -= len(kept)

    def _waits_for(self, fd: int, event: int) -> bool:
        """Wait until a descriptor can be used; False if the agent ended first."""
        poll = select.poll()
        poll.register(fd, event)
        poll.register(self._stopped, select.POLLIN)  # guards: input-stops
        return all(ready != self._stopped for ready, _ in poll.poll())
