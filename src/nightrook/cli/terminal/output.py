"""Outputs that break: their text is lost, the run is not."""

import os
import sys
from typing import TextIO

from nightrook.cli.safe_output import guarded

FRAME_S = 0.1
"""Seconds between two updates of a status line."""


def put(out: TextIO, words: str) -> None:
    """Write a line; if that fails, the run continues without output, and is recorded."""
    try:
        out.write(f"{words}\n")
        out.flush()
    except OSError as error:
        go_unseen(out, error)


def put_json(out: TextIO, data: bytes) -> None:
    """Write a line of JSON as `put` writes text."""
    try:
        guarded(out).write_json(data + b"\n")
    except OSError as error:
        go_unseen(out, error)


def put_control(out: TextIO, sequence: str) -> None:
    """Write a sequence that a terminal acts on and does not show, as `put` writes text."""
    try:
        out.write(sequence)
        out.flush()
    except OSError as error:
        go_unseen(out, error)


def put_command(out: TextIO, line: str) -> None:
    """Write a line that a CI service is meant to run, as `put` writes text."""
    try:
        guarded(out).write_command(line)
    except OSError as error:
        go_unseen(out, error)


_gone: set[int] = set()  # the descriptors of outputs that broke


def is_gone(out: TextIO) -> bool:
    """Whether the output broke, so that what is written is lost."""
    return out.fileno() in _gone


def go_unseen(out: TextIO, error: OSError) -> None:
    """Discard all further output; say why, unless the reader has just closed the pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)
    _gone.add(out.fileno())
    if not isinstance(error, BrokenPipeError) and out is not sys.stderr:
        guarded(sys.stderr).release()
        put(sys.stderr, f"[rook] cannot write: {error.strerror or error}; the run continues")
