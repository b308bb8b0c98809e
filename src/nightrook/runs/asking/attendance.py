"""Attendance of a viewer such as `rook web`, which answers questions of background runs."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightrook.model.errors import NightrookError
from nightrook.store.files import Folder

_LOCK = "attended"


@contextmanager
def attending(home: Path) -> Iterator[None]:
    """While the block lasts, runs in `home` that have no terminal wait for a decision.

    Any number of viewers can attend at once; a viewer that dies no longer does.
    """
    with Folder.made(home) as folder:
        lock = folder.append(_LOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield
    finally:
        os.close(lock)


def is_attended(home: Path) -> bool:
    """True if a viewer attends; if that is not known, none does."""
    try:
        with Folder.made(home) as folder:
            lock = folder.append(_LOCK)
    except NightrookError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False
