"""A terminal to look at: an emulator, and a command that runs in one."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pyte

PATIENCE_S = 120.0
COLOURS = re.compile("\x1b\\[[0-9;]*m|\x1b\\]8;;(?:file://[!-~]*)?\x1b\\\\")
"""What the displays write around words: colours, and links to files."""


class Emulator(pyte.Screen):
    """A screen that notes whatever is done to it beyond writing lines."""

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        super().__init__(columns, lines)
        self.deeds: list[str] = []

    @property
    def rows(self) -> list[str]:
        """What stands on the screen, without the blank rows at its end."""
        return "\n".join(line.rstrip() for line in self.display).rstrip("\n").split("\n")


class _Door:
    """What a stream of bytes calls: notes deeds, passes writing on."""

    def __init__(self, screen: Emulator) -> None:
        self._screen = screen

    def __getattr__(self, name: str) -> Any:
        if name in _DEEDS:
            return lambda *args, **options: self._screen.deeds.append(name)
        return getattr(self._screen, name)


_DEEDS = frozenset(
    {
        "alignment_display",
        "back",
        "backspace",
        "bell",
        "cursor_back",
        "cursor_back1",
        "cursor_down",
        "cursor_down1",
        "cursor_forward",
        "cursor_position",
        "cursor_to_column",
        "cursor_to_line",
        "cursor_up",
        "cursor_up1",
        "define_charset",
        "delete_characters",
        "delete_lines",
        "erase_characters",
        "insert_characters",
        "insert_lines",
        "report_device_attributes",
        "report_device_status",
        "reset_mode",
        "restore_cursor",
        "reverse_index",
        "save_cursor",
        "set_icon_name",
        "set_margins",
        "set_mode",
        "set_tab_stop",
        "set_title",
        "shift_in",
        "shift_out",
        "write_process_input",
    }
)


def emulate(text: str, *, columns: int = 80, lines: int = 24) -> Emulator:
    """What a terminal makes of text; a newline begins a new line, as terminals are set."""
    screen = Emulator(columns, lines)
    door: Any = _Door(screen)
    pyte.Stream(door).feed(text.replace("\n", "\r\n"))
    return screen


def _new_modes() -> list[Any]:
    """How every new terminal is set; the command's own may have been changed when it is read."""
    controller, terminal = os.openpty()
    try:
        return termios.tcgetattr(terminal)
    finally:
        os.close(controller)
        os.close(terminal)


class Terminal:
    """A command on a terminal of its own while its block lasts, as a person sees it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str],
        *,
        cwd: Path | None = None,
        columns: int = 90,
        rows: int = 40,
    ) -> None:
        self.raw = b""
        """Every byte that came to the terminal."""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        known = {**env, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self._is_gone = False  # the terminal, or all that had it open
        self.first_modes = _new_modes()
        """How the terminal is set before the command changes anything."""
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.chdir(cwd or ".")
                os.execve(command[0], [os.fspath(word) for word in command], known)
            finally:
                os._exit(127)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        with suppress(OSError):  # it was hung up
            os.close(self._descriptor)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n")

    @property
    def modes(self) -> list[Any]:
        """How the terminal is set now."""
        return termios.tcgetattr(self._descriptor)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as a user does who pulls at its corner."""
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._descriptor, keys.encode())

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the command alone."""
        os.kill(self.pid, number)

    def until(self, wanted: str | Callable[[], bool], *, times: int = 1) -> None:
        """Read until words stand on the screen, so many times, or a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not (self.text.count(wanted) >= times if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < end, f"{wanted!r} never came; there is:\n{self.text}"
            assert self._read() is not None, f"it ended before {wanted!r}; there is:\n{self.text}"

    def finish(self) -> int:
        """Read to the end; give the exit code, or the negative signal."""
        end = time.monotonic() + PATIENCE_S
        while self._read() is not None:
            assert time.monotonic() < end, f"it does not end; there is:\n{self.text}"
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def ends_within(self, seconds: float) -> bool:
        """Read until the command has ended, or for so long; return whether it has ended."""
        end = time.monotonic() + seconds
        while self.pid:
            if not self._is_gone and self._read() is None:
                self._is_gone = True
            if self._is_gone:
                select.select([], [], [], 0.02)
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = 0
            elif time.monotonic() >= end:
                return False
        return True

    def hang_up(self) -> None:
        """Close the terminal, as a user does who closes its window."""
        os.close(self._descriptor)
        self._is_gone = True

    def _read(self) -> bytes | None:
        if not select.select([self._descriptor], [], [], 0.1)[0]:
            return b""
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:  # the last that had it open has ended
            return None
        self.raw += data
        self._stream.feed(data)
        return data or None
