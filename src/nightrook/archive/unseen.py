"""Opens a file of an agent without leaving a trace in its folder."""

import os

# O_NONBLOCK: a pipe in place of a file must not block. O_NOATIME: reading leaves no trace.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NO_TRACE = getattr(os, "O_NOATIME", 0)


def open_unseen(path: str) -> int:
    """Open a file to read it, and return its descriptor."""
    try:
        return os.open(path, _OPEN | _NO_TRACE)
    except PermissionError:
        return os.open(path, _OPEN)  # only the owner of a file may leave no trace
