"""A keyboard and a screen in this process, at which a test sits."""

import asyncio
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Callable

import pyte

from nightrook.cli.terminal.permission_prompt import TerminalAsker
from nightrook.cli.terminal.shared_screen import SharedScreen

PASTE_MARKING = re.compile(r"\x1b\[\?2004[hl]")
"""What has a terminal mark pasted text, or no longer; nothing of it is seen."""


async def at_once(seconds: float) -> None:
    """Wait no time at all."""


class Board:
    """A keyboard and a screen; a size of 0 is one that the terminal does not know."""

    def __init__(self, columns: int = 0, rows: int = 0) -> None:
        self._master, self._slave = pty.openpty()
        self.path = os.ttyname(self._slave)
        self.heard = 0
        os.set_blocking(self._master, False)
        self.resize(columns, rows)

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)

    def hang_up(self) -> None:
        """Close the terminal, as a window is closed."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDWR)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, and clear it."""
        self.screen = pyte.Screen(columns or 80, rows or 24)
        self._stream = pyte.ByteStream(self.screen)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    async def press(self, key: str) -> None:
        """Press a key, and wait until it is heard."""
        before = self.heard
        self.type(key)
        async with asyncio.timeout(60):
            while self.heard == before:
                await asyncio.sleep(0.001)

    def deliver(self, keys: str) -> None:
        """Type keys, and wait until they have reached the terminal; nothing reads meanwhile."""
        self.type(keys)
        end = time.monotonic() + 60
        while self._unread() < len(keys):
            assert time.monotonic() < end
            time.sleep(0.001)

    def _unread(self) -> int:
        count = fcntl.ioctl(self._slave, termios.FIONREAD, struct.pack("i", 0))
        return int(struct.unpack("i", count)[0])

    def shown(self, patience: float = 0.0) -> str:
        """What was written to the screen since the last look, and in the moment after it."""
        data = b""
        while select.select([self._master], [], [], patience)[
            0
        ]:  # the system passes it on in parts
            data += os.read(self._master, 65536)
        self._stream.feed(data)
        return PASTE_MARKING.sub("", data.decode(errors="replace"))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Draw what is written until a condition holds."""
        async with asyncio.timeout(60):
            while self.shown() or not condition():
                await asyncio.sleep(0.001)

    def rows(self) -> list[str]:
        """What is on the screen above the cursor."""
        return [row.rstrip() for row in self.screen.display][: self.screen.cursor.y]

    def marks_pastes(self) -> bool:
        """True if the terminal was told to mark what is pasted."""
        self.shown()
        return 2004 << 5 in self.screen.mode

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def hear(self) -> None:
        """Count a key that was heard."""
        self.heard += 1


class BoardAsker(TerminalAsker):
    """Asks at a board, without waiting before keys count, and reports every key that it hears."""

    def __init__(self, board: Board, *, agent: str = "claude", cwd: str = "/") -> None:
        super().__init__(board.path, agent, SharedScreen(), cwd=cwd, limit_s=300, sleep=at_once)
        self._board = board

    def _wind(self, timer: asyncio.Timeout) -> None:
        super()._wind(timer)
        self._board.hear()
