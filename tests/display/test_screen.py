"""The echo of a terminal: off while something is drawn, and restored in every case."""

import io
import os
import random
import signal
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pyte
import pytest
from tests.rules import each

from nightrook.display.console import Paint
from nightrook.display.event_lines import RunContext
from nightrook.display.screen import Echo, Screen
from nightrook.display.terminal import TerminalDisplay
from nightrook.model.events import (
    LimitReported,
    Text,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from nightrook.model.fold import Fold
from nightrook.model.records import Record


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


class Glass(io.StringIO):
    """A terminal that what is written is shown on at once, and how often something was."""

    def __init__(self, columns: int, lines: int = 30) -> None:
        super().__init__()
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.Stream(self.screen)
        self.flushes = 0
        self.writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        self.stream.feed(text.replace("\n", "\r\n"))
        return len(text)

    def flush(self) -> None:
        self.flushes += 1

    @property
    def columns(self) -> int:
        return self.screen.columns

    def rows(self) -> list[str]:
        return [row.rstrip() for row in self.screen.display if row.strip()]


def glass(columns: int) -> tuple[Glass, Screen]:
    out = Glass(columns)
    return out, Screen(out, lambda: out.columns)


def test_lines_scroll_by_above_the_status_line() -> None:
    out, screen = glass(40)
    screen.status("works 1s")
    screen.put(["one", "two"])
    assert out.rows() == ["one", "two", "works 1s"]
    screen.status("works 2s")
    screen.put(["three"])
    assert out.rows() == ["one", "two", "three", "works 2s"]
    screen.close()
    assert out.rows() == ["one", "two", "three"]
    assert (out.screen.cursor.x, out.screen.cursor.y) == (0, 3)


def test_a_shorter_status_line_leaves_nothing_of_a_longer_one() -> None:
    out, screen = glass(40)
    screen.status("a long status line it is")
    screen.status("short")
    assert out.rows() == ["short"]


def test_several_status_lines_are_replaced_and_removed_as_one() -> None:
    out, screen = glass(20)
    screen.put(["one"])
    screen.status("TASK  TIME\n1     1s\n2     3s")
    assert out.rows() == ["one", "TASK  TIME", "1     1s", "2     3s"]
    screen.put(["two"])
    screen.status("TASK  TIME\n2     4s")
    assert out.rows() == ["one", "two", "TASK  TIME", "2     4s"]
    screen.status("works")
    assert out.rows() == ["one", "two", "works"]
    screen.status("TASK  TIME\n2     5s")
    with screen.paused():
        out.write("three\n")
    assert out.rows() == ["one", "two", "three", "TASK  TIME", "2     5s"]
    screen.close()
    assert out.rows() == ["one", "two", "three"]
    assert (out.screen.cursor.x, out.screen.cursor.y) == (0, 3)


def test_status_lines_at_the_end_of_the_screen_leave_nothing_behind() -> None:
    out = Glass(20, lines=5)
    screen = Screen(out, lambda: out.columns)
    screen.put([f"line {number}" for number in range(1, 5)])
    for seconds in range(3):
        screen.status(f"TASK  TIME\n1     {seconds}s\n2     {seconds}s")
    assert out.rows() == ["line 3", "line 4", "TASK  TIME", "1     2s", "2     2s"]
    screen.put(["line 5"])
    screen.close()
    assert out.rows() == ["line 4", "line 5"]


def test_every_frame_is_one_write_and_none_if_nothing_changed() -> None:
    out, screen = glass(40)
    screen.status("a")
    screen.put(["line"])
    screen.status("b")
    screen.status("b")
    assert out.writes == out.flushes == 3


def test_a_line_as_wide_as_the_screen_loses_nothing() -> None:
    out, screen = glass(20)
    screen.status("works")
    screen.put(["x" * 20, "y" * 45])
    assert out.rows() == ["x" * 20, "y" * 20, "y" * 20, "y" * 5, "works"]
    screen.close()
    assert out.rows() == ["x" * 20, "y" * 20, "y" * 20, "y" * 5]


def test_a_pause_takes_the_status_line_away_and_keeps_lines_back() -> None:
    out, screen = glass(40)
    screen.status("works")
    with screen.paused():
        assert out.rows() == []
        screen.status("still works")
        screen.put(["came meanwhile"])
        out.write("may I? ")
        assert out.rows() == ["may I?"]
        out.write("\n")
    assert out.rows() == ["may I?", "came meanwhile", "still works"]


def test_pauses_may_be_nested_and_an_end_in_a_pause_loses_no_line() -> None:
    out, screen = glass(40)
    screen.status("works")
    screen.pause()
    screen.pause()
    screen.put(["late"])
    screen.resume()
    assert out.rows() == []
    screen.close()
    assert out.rows() == ["late"]


SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WIDTHS = [*range(20, 60, 3), *range(60, 201, 20)]


def display(out: Glass) -> tuple[Fold, TerminalDisplay]:
    """A display of a run with everything that a status line can show."""
    long = "go test ./internal/汉字/👩‍👩‍👧/... -run 'Test.*'"
    events: list[Any] = [
        UsageReported(scope="message", semantics="final", message_id="m", input=18_400, output=7),
        LimitReported(window="five_hour", status="allowed", used=0.34),
        ToolStarted(id="1", name="Bash", kind="execute", title=long),
        ToolStarted(id="2", name="Read", kind="read", title="/x/" + "long/" * 30),
        ToolFinished(id="2", status="ok", output="x"),
        Text(id="t", text="I'll look at it. " * 20),
        ToolFinished(id="1", status="error", error="exit 1: " + "no " * 60),
    ]
    fold = Fold(Record(n, 100.0 + n, 0, 0, event) for n, event in enumerate(events))
    screen = Screen(out, lambda: out.columns)
    paint = Paint(colour=True, links=True)
    shown = TerminalDisplay(
        screen,
        "agent",
        columns=lambda: out.columns,
        context=RunContext(snapshot=fold.state.snapshot),
        paint=paint,
        verbose=True,
    )
    return fold, shown


def lowest(out: Glass) -> int:
    """The last row with something on it."""
    return max((n for n, row in enumerate(out.screen.display) if row.strip()), default=0)


@pytest.mark.slow
@each("columns", WIDTHS)
def test_the_status_line_never_wraps_and_leaves_nothing(columns: int) -> None:
    out = Glass(columns, 60)
    fold, shown = display(out)
    now = 100.0
    for record in fold:
        shown.show(record)
        for _ in range(5):
            now += 31.7
            row = out.screen.cursor.y
            shown.tick(now)
            assert out.screen.cursor.y == row == lowest(out)
            assert out.screen.cursor.x == 0
            assert 0 < len(out.screen.display[row].rstrip()) < columns
    before = [line.rstrip() for line in out.screen.display[: lowest(out)]]
    shown.close()
    assert [line.rstrip() for line in out.screen.display[: len(before)]] == before
    assert not any(line.strip() for line in out.screen.display[len(before) :])


@pytest.mark.slow
def test_the_status_line_survives_a_hundred_resizes() -> None:
    chance = random.Random(5)
    for _ in range(20):
        out = Glass(100, 60)
        fold, shown = display(out)
        for n, record in enumerate(fold):
            shown.show(record)
            for m in range(5):
                out.screen.resize(60, chance.randint(20, 200))
                shown.tick(200.0 + 7 * n + m)
                row = out.screen.cursor.y
                assert row == lowest(out)
                turning = [n for n, line in enumerate(out.screen.display) if line[0] in SPINNER]
                assert turning == [row]
        shown.close()
        assert not [line for line in out.screen.display if line[0] in SPINNER]


def test_a_terminal_that_breaks_the_line_anew_is_cleared_as_well() -> None:
    # As such a terminal does it: the line goes on in the next row, the cursor stays at its start.
    out, screen = glass(40)
    screen.put(["above"])
    screen.status("x" * 39)
    out.screen.resize(30, 20)
    y = out.screen.cursor.y
    out.stream.feed("\n" + "x" * 19 + "\x1b[A\r")
    assert out.screen.cursor.y == y
    screen.status("y" * 19)
    assert out.rows() == ["above", "y" * 19]


class Interrupted(Glass):
    """A terminal whose user presses Ctrl-C while the first thing is written."""

    def flush(self) -> None:
        super().flush()
        if self.flushes == 1:
            raise KeyboardInterrupt


def test_a_status_line_that_is_interrupted_while_it_is_drawn_is_taken_away() -> None:
    out = Interrupted(40)
    screen = Screen(out, lambda: 40)
    with pytest.raises(KeyboardInterrupt):
        screen.status("works")
    assert out.rows() == ["works"]
    screen.close()
    assert out.rows() == []
