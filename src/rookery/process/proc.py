"""Reads /proc, the only module that does. Standard library only: the recorder uses it."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC = "/proc"


class Stat:
    """The parts of a process's `stat` that rook uses."""

    __slots__ = (
        "cpu_ticks",
        "has_environment",
        "name",
        "parent",
        "session",
        "start_ticks",
        "state",
    )

    def __init__(self, name: bytes, fields: list[bytes]) -> None:
        self.name = name.decode("utf-8", "replace")
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.session = int(fields[3])
        self.cpu_ticks = int(fields[11]) + int(fields[12])
        self.start_ticks = int(fields[19])
        # In the middle of an exec there is memory, but the environment has no place yet.
        self.has_environment = fields[20] != b"0" and (
            fields[48] == b"0" or fields[47] != fields[48]
        )

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended; a zombie has."""
        return self.state not in "ZX"


def is_available() -> bool:
    """Whether this system has a /proc, and it has our own process ids.

    In a PID namespace, /proc may be that of another one: its ids would be those of strangers.
    """
    try:
        return os.readlink(f"{_PROC}/self") == str(os.getpid())
    except OSError:
        return False


def pids() -> list[int]:
    """The ids of all processes; none where /proc is not ours."""
    if not is_available():
        return []
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return []


def stat(pid: int) -> Stat | None:
    """What the system knows of a process; None if it has gone, or /proc is not ours."""
    return _stat(pid) if is_available() else None


def stats() -> Iterator[tuple[int, Stat]]:
    """What the system knows of all processes."""
    for pid in pids():
        found = _stat(pid)
        if found is not None:
            yield pid, found


def _stat(pid: int) -> Stat | None:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return None
    end = line.rfind(b")")  # the name may contain blanks and brackets
    fields = line[end + 2 :].split()
    return Stat(line[line.find(b"(") + 1 : end], fields) if len(fields) > 48 else None


def environment(pid: int) -> bytes | None:
    """The environment a process was started with.

    It is empty in the middle of an exec, and None for another user's process.
    """
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return None


def oom_score() -> int | None:
    """How much likelier we are ended when memory is short; None where the system does not say."""
    try:
        with open(f"{_PROC}/self/oom_score_adj", "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def set_oom_score(score: int) -> None:
    """Set that of ours, and of processes that we start from now on; it may not be permitted."""
    with suppress(OSError), open(f"{_PROC}/self/oom_score_adj", "wb") as file:
        file.write(b"%d" % score)


def open_files() -> list[int]:
    """The numbers of our own open files; empty where the system does not list them."""
    try:
        return [int(name) for name in os.listdir(f"{_PROC}/self/fd")]
    except OSError:
        return []
