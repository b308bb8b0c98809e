"""The echo of a terminal: off while something is drawn, and restored in every case."""

import os
import signal
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from nightrook.display.console.echo import Echo


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    controller, terminal = os.openpty()
    with open(terminal, "w", encoding="utf-8") as out:
        yield out
    os.close(controller)


def echoes(out: TextIO) -> bool:
    return bool(termios.tcgetattr(out.fileno())[3] & termios.ECHO)


def test_the_echo_is_off_until_the_modes_are_restored(terminal: TextIO) -> None:
    before = termios.tcgetattr(terminal.fileno())
    echo = Echo(terminal)
    echo.off()
    echo.off()
    assert not echoes(terminal)
    echo.on()
    assert termios.tcgetattr(terminal.fileno()) == before
    echo.off()
    assert not echoes(terminal)
    echo.close()
    assert termios.tcgetattr(terminal.fileno()) == before


def test_an_echo_that_is_kept_on_is_not_switched_off_by_later_frames(terminal: TextIO) -> None:
    before = termios.tcgetattr(terminal.fileno())
    echo = Echo(terminal)
    echo.off()
    echo.keep_on()
    echo.off()
    assert termios.tcgetattr(terminal.fileno()) == before


def test_an_echo_that_was_off_before_stays_off(terminal: TextIO) -> None:
    modes = termios.tcgetattr(terminal.fileno())
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal.fileno(), termios.TCSANOW, modes)
    echo = Echo(terminal)
    echo.off()
    echo.close()
    assert not echoes(terminal)


def test_what_ctrl_z_does_is_restored(terminal: TextIO) -> None:
    before = signal.getsignal(signal.SIGTSTP)
    echo = Echo(terminal)
    echo.watch()
    assert signal.getsignal(signal.SIGTSTP) is not before
    echo.close()
    assert signal.getsignal(signal.SIGTSTP) is before


def test_an_output_that_is_not_a_terminal_is_left_alone(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w", encoding="utf-8") as out:
        echo = Echo(out)
        echo.off()
        echo.keep_on()
    echo.off()  # it is closed
    echo.close()
