"""What an output can show, by what it is and what the environment says."""

import io
import os
import pty
from collections.abc import Iterator
from typing import TextIO

import pytest

from nightrook.display.console import Look, columns, look_of

XTERM = {"TERM": "xterm-256color"}


@pytest.fixture
def tty() -> Iterator[TextIO]:
    master, slave = pty.openpty()
    with open(slave, "w") as out:
        yield out
    os.close(master)


@pytest.mark.parametrize(
    ("environ", "look"),
    [
        (XTERM, Look(terminal=True, colour=True, links=True)),
        ({**XTERM, "NO_COLOR": "1"}, Look(terminal=True, colour=False, links=True)),
        ({**XTERM, "NO_COLOR": ""}, Look(terminal=True, colour=True, links=True)),
        ({**XTERM, "FORCE_COLOR": "0"}, Look(terminal=True, colour=False, links=True)),
        ({**XTERM, "FORCE_COLOR": "false"}, Look(terminal=True, colour=False, links=True)),
        ({**XTERM, "FORCE_COLOR": "3"}, Look(terminal=True, colour=True, links=True)),
        ({**XTERM, "NO_COLOR": "1", "FORCE_COLOR": "1"}, Look(terminal=True, links=True)),
        ({**XTERM, "CI": "true"}, Look(colour=True)),
        ({"TERM": "dumb"}, Look()),
        ({}, Look()),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, Look(colour=True)),
        ({"TERM": "linux"}, Look(terminal=True, colour=True)),
        (
            {**XTERM, "WT_SESSION": "x"},
            Look(terminal=True, colour=True, links=True, progress=True),
        ),
        (
            {**XTERM, "TERM_PROGRAM": "ghostty"},
            Look(terminal=True, colour=True, links=True, progress=True),
        ),
        ({**XTERM, "VTE_VERSION": "7600"}, Look(terminal=True, colour=True, links=True)),
        (
            {**XTERM, "VTE_VERSION": "8000"},
            Look(terminal=True, colour=True, links=True, progress=True),
        ),
        ({**XTERM, "VTE_VERSION": "new"}, Look(terminal=True, colour=True, links=True)),
    ],
)
def test_a_terminal_shows_what_it_can_and_what_was_not_forbidden(
    tty: TextIO, environ: dict[str, str], look: Look
) -> None:
    assert look_of(tty, environ) == look


@pytest.mark.parametrize(
    ("environ", "look"),
    [
        (XTERM, Look()),
        ({**XTERM, "FORCE_COLOR": "1"}, Look(colour=True)),
        ({**XTERM, "FORCE_COLOR": "0"}, Look()),
        ({**XTERM, "WT_SESSION": "x"}, Look()),
    ],
)
def test_a_pipe_gets_plain_lines(environ: dict[str, str], look: Look) -> None:
    assert look_of(io.StringIO(), environ) == look


def test_a_closed_output_is_no_terminal() -> None:
    out = io.StringIO()
    out.close()
    assert look_of(out, XTERM) == Look()


def test_a_terminal_that_does_not_tell_its_width_has_80_columns(tty: TextIO) -> None:
    assert columns(tty) == 80
    assert columns(io.StringIO()) == 80
