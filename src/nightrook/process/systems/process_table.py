"""Processes as every system describes them, and their descent."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MOST_ANCESTORS = 512  # more are no chain of parents, but ids that were used again meanwhile


class ProcessInfo:
    """A process as the system describes it."""

    __slots__ = ("cpu_s", "name", "parent", "start", "state")

    def __init__(self, *, name: str, state: str, parent: int, cpu_s: float, start: int) -> None:
        self.name = name
        self.state = state
        self.parent = parent
        self.cpu_s = cpu_s
        self.start = start  # in the system's own unit

    @property
    def is_alive(self) -> bool:
        """True while the process has not ended; a zombie has."""
        return self.state not in "ZX"


class Peer:
    """The process at the other end of a connection."""

    __slots__ = ("_descriptor", "pid", "uid")

    def __init__(self, pid: int, uid: int, descriptor: int | None) -> None:
        self.pid = pid
        self.uid = uid
        self._descriptor = descriptor  # readable when the process has ended

    @property
    def has_ended(self) -> bool:
        """True if it is known that the process has ended: its id may be that of another one."""
        import select  # a recorder does without it

        if self._descriptor is None:
            return False
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the system's resources for it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def below(processes: Iterable[tuple[int, ProcessInfo]], *roots: int) -> list[int]:
    """Return all living processes below some, by their parents."""
    children: dict[int, list[int]] = {}
    living: set[int] = set()
    for pid, found in processes:
        children.setdefault(found.parent, []).append(pid)
        if found.is_alive:
            living.add(pid)
    members: list[int] = []
    queue = [*roots]
    while queue:
        for child in children.get(queue.pop(), ()):
            queue.append(child)
            if child in living:
                members.append(child)
    return members


def above(pid: int, find: Callable[[int], ProcessInfo | None]) -> list[tuple[int, int]] | None:
    """A process and all above it, with their starts; None if one of them is gone."""
    found: list[tuple[int, int]] = []
    while pid > 0 and len(found) < _MOST_ANCESTORS:
        info = find(pid)
        if info is None:
            return None
        found.append((pid, info.start))
        pid = info.parent
    return found if found and pid <= 0 else None


def is_group(leader: int) -> bool:
    """Return whether a process group has members; a zombie is one until it is waited for."""
    try:
        os.kill(-leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # there is one, but not ours
    return True
