"""Reads /proc, the only module that does. Standard library only: the recorder uses it."""

from __future__ import annotations

import os

_PROC = "/proc"


class Stat:
    """The parts of a process's `stat` that rook uses."""

    __slots__ = ("cpu_ticks", "is_in_exec", "parent", "start_ticks", "state")

    def __init__(self, fields: list[bytes]) -> None:
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.cpu_ticks = int(fields[11]) + int(fields[12])
        self.start_ticks = int(fields[19])
        # Its memory is there, but its environment is not yet.
        self.is_in_exec = fields[20] != b"0" and fields[48] == b"0"

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended; a zombie has."""
        return self.state not in "ZX"


def is_available() -> bool:
    """Whether this system has a /proc."""
    return os.path.isdir(f"{_PROC}/self")


def pids() -> list[int]:
    """The ids of all processes."""
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return []


def stat(pid: int) -> Stat | None:
    """What the system knows of a process; None if it has gone."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return None
    fields = line[line.rfind(b")") + 2 :].split()  # the name may contain blanks and brackets
    return Stat(fields) if len(fields) > 48 else None


def environment(pid: int) -> bytes | None:
    """The environment a process was started with.

    It is empty in the middle of an exec, and None for another user's process.
    """
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return None


def open_files() -> list[int]:
    """The numbers of our own open files; empty where the system does not list them."""
    try:
        return [int(name) for name in os.listdir(f"{_PROC}/self/fd")]
    except OSError:
        return []
