"""Makes a process fail or die at its n-th call that changes the disk, as a full disk or kill -9 do.

The recorder runs this text before its own, in a Python without paths: it imports only `os`.
"""

from __future__ import annotations

import errno
import os
import signal
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ("open", "write", "pwrite", "fsync", "rename", "replace", "link", "mkdir", "ftruncate")
"""The calls that count, if they are about a file or a folder: pipes and terminals do not."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_BY_DESCRIPTOR = ("write", "pwrite", "fsync", "ftruncate")
_ERRORS = {"eio": errno.EIO, "enospc": errno.ENOSPC, "full": errno.ENOSPC}


def begin(fault: str) -> None:
    """Begin a fault: `PROCESS ACTION N FILE`, for the runner or for the recorder that it starts.

    At the n-th call, the action `kill` ends the process, `eio` and `enospc` fail that call, and
    `full` fails it and all after it. Each call that counts adds a byte to FILE.
    """
    process, action, at, tally = fault.split(" ", 3)
    if process == "runner":
        inject(action, int(at), tally)
        return
    from nightrook.process import isolated_python

    with open(__file__) as file:
        text = file.read()
    fault = f"inject({action!r}, {int(at)}, {tally!r})"
    isolated_python._BOOT = f"{text}\n{fault}\n{isolated_python._BOOT}"


def inject(action: str, at: int, tally: str) -> None:
    """Let the n-th call of this process that changes the disk fail or kill it."""
    count = 0
    real_kill, real_write = os.kill, os.write
    file = os.open(tally, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.set_inheritable(file, False)

    def strike() -> None:
        nonlocal count
        count += 1
        real_write(file, b".")
        if count == at and action == "kill":
            real_kill(os.getpid(), signal.SIGKILL)
        if count == at or (count > at and action == "full"):
            raise OSError(_ERRORS[action], os.strerror(_ERRORS[action]))

    for name in CALLS:
        _wrap(name, strike)


def _wrap(name: str, strike: Callable[[], None]) -> None:
    real = getattr(os, name)

    def call(*args: object, **options: object) -> object:
        if _counts(name, args):
            strike()
        return real(*args, **options)

    setattr(os, name, call)


def _counts(name: str, args: tuple[object, ...]) -> bool:
    """Whether a call changes a file or a folder."""
    if name == "open":
        flags = args[1]
        return isinstance(flags, int) and bool(flags & _WRITING) and args[0] != os.devnull
    if name in _BY_DESCRIPTOR:
        mode = os.fstat(args[0]).st_mode  # type: ignore[arg-type]
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return True
