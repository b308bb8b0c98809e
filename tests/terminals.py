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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyte

PATIENCE_S = 60.0
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


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, pid: int, descriptor: int, columns: int, rows: int) -> None:
        self.pid = pid
        self.raw = b""
        self.screen = pyte.Screen(columns, rows)
        self.looks: list[list[str]] = []
        self._descriptor = descriptor
        self._stream = pyte.ByteStream(self.screen)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as a user does who pulls at its corner."""
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._descriptor, keys)

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the command alone."""
        os.kill(self.pid, number)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n")

    def until(self, condition: Callable[[], bool]) -> None:
        """Read what the command writes until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"it never came; there is:\n{self.text}"
            assert self._read(0.1) is not None, f"it has ended before; there is:\n{self.text}"

    def finish(self) -> int:
        """Read to the end; give the exit code, or the negative signal."""
        end = time.monotonic() + PATIENCE_S
        while self._read(0.1) is not None:
            assert time.monotonic() < end, f"it does not end; there is:\n{self.text}"
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def _read(self, wait_s: float) -> bytes | None:
        ready, _, _ = select.select([self._descriptor], [], [], wait_s)
        if not ready:
            return b""
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:  # the last that had it open has ended
            return None
        self.raw += data
        self._stream.feed(data)
        return data or None

    def close(self) -> None:
        """End what is left."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._descriptor)


@contextmanager
def terminal(
    command: Sequence[str], environment: Mapping[str, str], *, columns: int = 90, rows: int = 40
) -> Iterator[Terminal]:
    """Start a command in a terminal."""
    known = {**environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    for name in ("CI", "NO_COLOR", "FORCE_COLOR"):
        if name not in environment or environment[name] == os.environ.get(name):
            known.pop(name, None)
    pid, descriptor = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(command[0], list(command), known)
        finally:
            os._exit(127)
    going = Terminal(pid, descriptor, columns, rows)
    try:
        yield going
    finally:
        going.close()
