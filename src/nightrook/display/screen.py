"""Writes to a terminal: lines that scroll by, and temporary status lines below them.

`Echo` switches the terminal's echo off while temporary lines are drawn: keys would tear them.
"""

import os
import signal
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, RLock, current_thread, main_thread
from types import FrameType
from typing import Any, TextIO

_LOCAL_MODES = 3  # their place among a terminal's modes


class Echo:
    """The echo of the terminal that an output writes to.

    Nothing else changes: Ctrl-C and Ctrl-Z still work, and what is typed is left for the shell.
    Ctrl-Z switches the echo on first. After kill -9, an interactive shell switches it on again.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._before: list[Any] | None = None
        self._held = False  # the process is about to stop or to be ended: it stays on
        self._lock = RLock()  # a signal handler may interrupt its own thread

    def watch(self) -> None:
        """Switch the echo on before Ctrl-Z stops the process; only the main thread can do that."""
        is_default = signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
        if is_default and current_thread() is main_thread():
            signal.signal(signal.SIGTSTP, self._suspend)

    def off(self) -> None:
        """Switch the echo off, if the terminal is ours; any thread may do so at any time."""
        # The terminal may be gone.
        with self._lock, suppress(OSError, ValueError, termios.error):
            terminal = self._out.fileno()
            if self._held or not _is_in_front(terminal):  # guards: echo-kept-on
                return
            modes = termios.tcgetattr(terminal)
            if modes[_LOCAL_MODES] & termios.ECHO:
                self._before = [*modes]
                modes[_LOCAL_MODES] &= ~termios.ECHO
                termios.tcsetattr(terminal, termios.TCSANOW, modes)

    def on(self) -> None:
        """Restore the terminal's modes."""
        with self._lock, suppress(OSError, ValueError, termios.error):
            before, self._before = self._before, None
            if before is not None and _is_in_front(self._out.fileno()):
                termios.tcsetattr(self._out.fileno(), termios.TCSANOW, before)

    def keep_on(self) -> None:
        """Switch the echo on until the end: a signal may end the process at once."""
        with self._lock:
            self._held = True
            self.on()

    def close(self) -> None:
        """Restore the terminal's modes and the handler of Ctrl-Z."""
        self.on()  # guards: echo-restored
        if signal.getsignal(signal.SIGTSTP) == self._suspend:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)

    def _suspend(self, _number: int, _frame: FrameType | None) -> None:
        self._held = True
        self.on()  # guards: echo-before-stop
        os.kill(os.getpid(), signal.SIGSTOP)
        self._held = False  # continued: the next frame switches it off again


def _is_in_front(terminal: int) -> bool:
    """True while the terminal is ours: changing it from the background would stop us."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return os.isatty(terminal)  # not our controlling terminal: changing it does not stop us


_CLEAR = "\r\x1b[J"  # from the status line's first column to the end of the screen
_CLEAR_REST = "\x1b[K"


class Screen:
    """One terminal. Every call is one write, so nothing flickers; threads may share it.

    The cursor waits in the first column of the status line, of several in that of the first one: a
    terminal that is made narrower breaks the line after the cursor, and what is cleared from there
    is all of it. While there is a status line, `echo` is off, so that keys do not move the cursor.
    """

    def __init__(self, out: TextIO, columns: Callable[[], int], echo: Echo | None = None) -> None:
        self._out = out
        self._echo = echo
        self._columns = columns
        self._status = ""  # as it is on the screen
        self._wanted = ""
        self._width = columns()
        self._pauses = 0
        self._waiting = ""  # lines that came during a pause
        self._signal = ""  # the last one that was written
        self._lock = Lock()
        if echo is not None:
            echo.watch()

    def put(self, lines: Sequence[str]) -> None:
        """Write lines above the status line."""
        with self._lock:
            self._put("".join(f"{line}\n" for line in lines))

    def status(self, text: str, signal: str = "") -> None:
        """Replace the status line, or lines; each must be one column narrower than the screen.

        `signal` is a sequence that shows nothing here; one that was written is not written again.
        """
        with self._lock:
            self._wanted = text
            if not self._pauses:
                self._draw()
            self._send(signal)

    def pause(self) -> None:
        """Hide the status line and hold lines back until `resume`: other code writes here."""
        with self._lock:
            self._pauses += 1
            self._erase()
            if self._echo is not None:
                self._echo.close()

    def resume(self) -> None:
        """Show the status line again, once every pause is over."""
        with self._lock:
            self._pauses = max(0, self._pauses - 1)
            if not self._pauses:
                if self._echo is not None:
                    self._echo.watch()
                waiting, self._waiting = self._waiting, ""
                self._put(waiting)
                self._draw()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hide the status line inside the block."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def close(self, signal: str = "") -> None:
        """Remove the status line; `signal` is written if a signal was sent before, to undo it."""
        with self._lock:
            self._wanted, self._pauses = "", 0
            self._erase()
            if self._echo is not None:
                self._echo.close()
            self._put(self._waiting)
            self._waiting = ""
            self._send(signal if self._signal else "")

    def _send(self, signal: str) -> None:
        if signal and signal != self._signal:
            self._signal = signal
            self._write(signal)

    def _put(self, text: str) -> None:
        if self._pauses:
            self._waiting += text
        elif text:
            self._write(f"{_CLEAR}{text}{_drawn(self._wanted)}" if self._status else text)

    def _draw(self) -> None:
        # Noted before it is written: if the write is interrupted, the status line must still be
        # removed.
        if not self._wanted:
            self._erase()
            return
        if self._echo is not None:
            self._echo.off()  # guards: echo-off
        before, self._status = self._status, self._wanted
        former, self._width = self._width, self._columns()
        if self._width != former or (self._wanted != before and "\n" in before + self._wanted):
            self._write(f"{_CLEAR if before else ''}{_drawn(self._wanted)}")
        elif self._wanted != before:
            self._write(f"\r{self._wanted}{_CLEAR_REST}\r")

    def _erase(self) -> None:
        if self._status:
            self._write(_CLEAR)
        self._status = ""

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _drawn(status: str) -> str:
    """Status lines, and back to the first column of the first one."""
    below = status.count("\n")
    return f"{status}\x1b[{below}A\r" if below else f"{status}\r"
