"""Checks who may decide: a process of the same user outside of any agent's process tree."""

import os
import socket
from typing import NamedTuple

from nightrook.process import trees
from nightrook.process.liveness import is_same_process
from nightrook.process.systems.process_table import Peer
from nightrook.process.systems.this_system import system

OTHER_USER = "only the user who started the run can answer"
FROM_AGENT = "an agent cannot answer for you: answer from outside the agent's processes"
UNCLEAR = "rook cannot tell whether the answer comes from the agent: answer from another terminal"

_MARKERS = (f"{trees.MARKER}=".encode(), f"{trees.RECORDS}=".encode())
_TRIES = 5  # parents may end while they are looked up


class Recorder(NamedTuple):
    """The recorder of a run: the agent's whole tree is below it."""

    pid: int
    ticks: int | None


def refusal(connection: socket.socket, recorder: Recorder | None) -> str | None:
    """Return why the process at the other end may not decide for a run; None if it may.

    A process whose origin is not known may not. Without a recorder, the run's agent is on another
    machine, and only those of other runs here are refused.
    """
    peer = system.peer_of(connection)
    if peer is None:
        return UNCLEAR
    try:
        # guards: peer-of-other-user
        return OTHER_USER if peer.uid != os.geteuid() else _tree_refusal(peer, recorder)
    finally:
        peer.close()


def is_runner(connection: socket.socket, pid: int, marker: str) -> bool:
    """True if the process at the other end is the runner of the run that has this marker.

    For viewers: an agent could listen in its place.
    """
    peer = system.peer_of(connection)
    if peer is None:
        return False
    try:
        lineage = _lineage(peer)
        variable = f"{trees.MARKER}={marker}".encode()
        return (
            (peer.uid, peer.pid) == (os.geteuid(), pid)
            and lineage is not None
            and _is_marked(lineage, (variable,)) is False
        )
    finally:
        peer.close()


def is_agent(pid: int) -> bool:
    """True if a process is known to be part of an agent's tree."""
    lineage = system.lineage(pid)
    return lineage is not None and _is_marked(lineage) is True


def _tree_refusal(peer: Peer, recorder: Recorder | None) -> str | None:
    lineage = _lineage(peer)
    # guards: recorder-dead
    if lineage is None or (recorder is not None and not is_same_process(*recorder)):
        return UNCLEAR  # guards: peer-of-unknown-origin
    pids = [pid for pid, _ in lineage]
    marked = _is_marked(lineage)
    if recorder is None:
        is_unclear = marked is None or _has_changed(peer, lineage)
        return FROM_AGENT if marked else UNCLEAR if is_unclear else None
    # guards: peer-below-recorder, peer-below-runner, peer-with-marker
    if recorder.pid in pids or os.getpid() in pids[1:] or marked:
        return FROM_AGENT
    if marked is None or (not system.ORPHANS_STAY and _may_be_orphan(lineage, recorder)):
        return UNCLEAR
    return UNCLEAR if _has_changed(peer, lineage) else None


def _is_marked(
    lineage: list[tuple[int, int]], variables: tuple[bytes, ...] = _MARKERS
) -> bool | None:
    """True if a process or one above it has a run's marker; None if its own is not known.

    Those above it may be other users': their environments are hidden, and they are not agents.
    """
    marks = [system.carries(pid, variables) for pid, _ in lineage]
    return True if any(marks) else (None if marks[0] is None else False)


def _lineage(peer: Peer) -> list[tuple[int, int]] | None:
    """The process and all above it, with their starts; None if that is not known."""
    for _ in range(_TRIES):
        lineage = system.lineage(peer.pid)
        if lineage is not None and not _has_changed(peer, lineage):
            return lineage
    return None


def _has_changed(peer: Peer, lineage: list[tuple[int, int]]) -> bool:
    """True if the process has ended, or was orphaned, since it was looked up."""
    return system.lineage(peer.pid) != lineage or peer.has_ended  # guards: peer-ended


def _may_be_orphan(lineage: list[tuple[int, int]], recorder: Recorder) -> bool:
    """True if the first of them below the system's first process is not older than the agent."""
    below_first = [start for pid, start in lineage if pid != 1]
    return recorder.ticks is None or not below_first or below_first[-1] >= recorder.ticks
