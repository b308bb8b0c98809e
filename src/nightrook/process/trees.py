"""An agent's whole process tree: finding its processes, and ending them.

What differs between systems is behind `systems`. Standard library only: the recorder runs it.
"""

from __future__ import annotations

import errno
import os
import signal
import time

from nightrook.process.systems.process_table import below
from nightrook.process.systems.this_system import system

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MOST_S = 5.0  # for those whom not even SIGKILL ends: they wait for a disk, or are not ours
_PAUSE_S = 0.001
MARKER = "ROOK_RUN"
"""The environment variable that marks processes, so that those outliving a recorder are found."""

RECORDS = "ROOK_RECORDS"
"""The environment variable of a recorder itself: the run that it records."""


def tree_of(leader: int, marker: str) -> system.Tree:
    """The tree of a process that we started as the leader of a session, with a marker."""
    return system.Tree(leader, _variable(marker))


def is_anybody_left(tree: system.Tree) -> bool:
    """Return whether any process of a tree lives on, once its leader has ended itself."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return tree.outlives_us()
        if pid == 0:
            return True


def roomy_pipe() -> tuple[int, int]:
    """Make a pipe that holds as much as the system lets us, where it lets us say so.

    Some agents exit without waiting until what they wrote last is read (opencode 1.18.33): what
    does not fit into the pipe then is lost.
    """
    reading, writing = os.pipe()
    system.enlarge_pipe(writing)
    return reading, writing


def descendants(*roots: int) -> list[int]:
    """Return all living processes below some, by their parents; zombies are not living."""
    return below(system.stats(), *roots)


def marked(marker: str) -> list[int]:
    """Return all living processes of ours whose environment carries a run's marker."""
    return system.marked(_variable(marker))


def adopted(marker: str, since: int) -> list[int]:
    """The processes of an agent whose recorder was killed that became ours, and all below them.

    They may have cleared their environment. They are those of our children that started after the
    recorder did, are not in our own session, and carry no marker of another run. One
    that is ending is among them, although its environment is gone: its children will become ours.
    """
    children = system.adopted(since)
    found = [pid for pid, variables in children if not _is_of_another_run(variables, marker)]
    return [*found, *descendants(*found)] if found else []


def _is_of_another_run(variables: list[bytes], marker: str) -> bool:
    """Return whether a process is a recorder, or belongs to an agent with another marker."""
    markers = (f"{MARKER}=".encode(), f"{RECORDS}=".encode())
    return any(one.startswith(markers) and one != _variable(marker) for one in variables)


def _variable(marker: str) -> bytes:
    return f"{MARKER}={marker}".encode()


def send(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes that may be gone by now."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            continue


def terminate(pids: Iterable[int]) -> None:
    """Ask processes to end; a stopped one is woken to hear it."""
    pids = list(pids)
    send(pids, signal.SIGTERM)
    send(pids, signal.SIGCONT)  # guards: stopped-continued


def reap() -> dict[int, int]:
    """Collect the ended children; give the wait status of each."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        except OSError as error:
            if error.errno == errno.EINTR:
                continue
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def kill(find: Callable[[], list[int]], within_s: float = _MOST_S) -> list[int]:
    """Kill the processes found, until none is left or time is up; return those that are left."""
    until = time.monotonic() + within_s
    while (left := find()) and time.monotonic() < until:  # guards: killing-ends
        send(left, signal.SIGKILL)
        time.sleep(_PAUSE_S)
    return left


def kill_marked(
    marker: str, within_s: float = _MOST_S, *, adopted_since: int | None = None
) -> list[int]:
    """End the processes that outlived a killed recorder; return those that nothing can end.

    What is below a process with the marker belongs to it, even without a marker of its own. With
    `adopted_since`, the start of the recorder, also what became ours by its death.
    """

    def find() -> list[int]:
        agents = marked(marker)
        below = descendants(*agents) if agents else []
        ours = adopted(marker, adopted_since) if adopted_since is not None else []
        return list({*agents, *below, *ours})  # guards: unmarked-child, subreaper-left-behind

    return kill(find, within_s)
