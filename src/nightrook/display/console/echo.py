"""Switches the terminal's echo off while temporary lines are drawn: keys would tear them."""

import os
import signal
import termios
from contextlib import suppress
from threading import RLock, current_thread, main_thread
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
            if self._held or not _is_in_front(terminal):
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
        """Switch the echo on for good: a signal may end the process at once."""
        with self._lock:
            self._held = True
            self.on()

    def close(self) -> None:
        """Restore the terminal's modes, and what Ctrl-Z does."""
        self.on()
        if signal.getsignal(signal.SIGTSTP) == self._suspend:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)

    def _suspend(self, _number: int, _frame: FrameType | None) -> None:
        self._held = True
        self.on()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._held = False  # continued: the next frame switches it off again


def _is_in_front(terminal: int) -> bool:
    """Whether the terminal is ours: changing it from the background would stop us."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return os.isatty(terminal)  # not our controlling terminal: changing it does not stop us
