"""Screens that break: what is shown is lost, the run is not."""

import os
import sys
from typing import TextIO

FRAME_S = 0.1
"""How long a status line stays as it is."""


def put(out: TextIO, words: str) -> None:
    """Write a line; if that fails, the run goes on unseen, and is recorded."""
    try:
        out.write(f"{words}\n")
        out.flush()
    except OSError as error:
        go_unseen(out, error)


def go_unseen(out: TextIO, error: OSError) -> None:
    """Let all that is written from now on go nowhere; a reader that went away needs no word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)
    if not isinstance(error, BrokenPipeError) and out is not sys.stderr:
        put(sys.stderr, f"[rook] cannot write: {error.strerror or error}; the run goes on")
