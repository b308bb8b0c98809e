"""A command on a terminal of its own, as a person sees it: a pty with an emulator behind it."""

import fcntl
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

PATIENCE_S = 30.0


class Terminal:
    """Runs a command while its block lasts; `text` is what its screen shows."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        columns: int = 120,
        rows: int = 60,
    ) -> None:
        self.written = b""
        """Every byte that came to the terminal."""
        self.code: int | None = None
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(command[0], [os.fspath(word) for word in command], dict(env))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.code is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self._fd)

    @property
    def text(self) -> str:
        """What the screen shows now."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def modes(self) -> list[Any]:
        """How the terminal is set now."""
        return termios.tcgetattr(self._fd)

    def until(self, words: str, *, times: int = 1) -> None:
        """Read until some words stand on the screen, so many times."""
        self.wait_for(lambda: self.text.count(words) >= times, words)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._fd, keys.encode())

    def end(self) -> int:
        """Read until the command has ended; give its exit code."""
        self.wait_for(self._has_ended, "its end")
        assert self.code is not None
        return self.code

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Read until something is true."""
        until = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < until, f"{what!r} never came:\n{self.text}"
            self._read()

    def _has_ended(self) -> bool:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.code = os.waitstatus_to_exitcode(status)
            while self._read():
                continue
        return bool(pid)

    def _read(self) -> bool:
        if not select.select([self._fd], [], [], 0.05)[0]:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # nobody is left on the other side
            return False
        self.written += data
        self._stream.feed(data)
        return bool(data)
