"""The seam to the system: knowing a process's whole tree and ending it.

What a system cannot do is said by `promises`, not discovered by accident. Standard library only:
the recorder runs it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import sys
import time

from rookery.process import proc

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_MORE_LIKELY = 300  # of at most 1000: what an agent's processes get above our own score
_MOST_S = 5.0  # for those whom not even SIGKILL ends: they wait for a disk, or are not ours
_PAUSE_S = 0.001
_EXEC_S = 5.0  # an exec takes no longer, even on a busy machine
_ROOM = 1 << 20  # what Linux lets anybody ask for
MARKER = "ROOKERY_RUN"
"""The environment variable by which what outlives its recorder is found."""

RECORDS = "ROOKERY_RECORDS"
"""The environment variable of a recorder itself: the run that it records."""


def promises() -> list[str]:
    """Say what this system cannot promise; nothing to say on a usual Linux."""
    missing = []
    if not sys.platform.startswith("linux"):
        missing.append("orphans of the agent may escape: there is no child subreaper")
    if not proc.is_available():
        missing.append("only the agent's own process group is ended: /proc is not that of rook")
    if not hasattr(os, "pidfd_open"):
        missing.append("the end of the agent is noticed by signals: there is no pidfd")
    return missing


def become_subreaper() -> bool:
    """Make orphaned descendants our children, so that none can leave the tree."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        done: int = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        return done == 0
    except (OSError, AttributeError):
        return False


def is_subreaper() -> bool:
    """Whether orphaned descendants become our children."""
    if not sys.platform.startswith("linux"):
        return False
    answer = ctypes.c_int()
    try:
        ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return answer.value == 1


def raise_oom_score() -> int | None:
    """Make what we start from now on likelier to be ended for lack of memory; return the score."""
    score = proc.oom_score()
    if score is not None:
        proc.set_oom_score(min(score + _MORE_LIKELY, 1000))
    return score


def lower_oom_score(score: int | None) -> None:
    """Set our own score to what it was; what was started meanwhile keeps its own."""
    if score is not None:
        proc.set_oom_score(score)


def tree(root: int, leader: int) -> list[int]:
    """Whom to signal to reach all below one; without /proc it is its leader's process group."""
    return descendants(root) if proc.is_available() else [-leader]


def is_anybody_left(leader: int) -> bool:
    """Whether anybody of a leader's tree lives on, once it has ended itself.

    Orphans become our children, so that none is left when we have none. Where they do not, its
    process group is all that can be known.
    """
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return not proc.is_available() and _is_group(leader)
        if pid == 0:
            return True


def roomy_pipe() -> tuple[int, int]:
    """Make a pipe that holds as much as the system lets us, where it lets us say so.

    Some agents exit without waiting until what they wrote last is read (opencode 1.18.33): what
    does not fit into the pipe then is lost.
    """
    reading, writing = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _ROOM)
        except OSError:
            return reading, writing  # this user's pipes together hold too much already
    return reading, writing


def open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def descendants(*roots: int) -> list[int]:
    """All living processes below some, by the parents that /proc lists; zombies are not living."""
    children: dict[int, list[int]] = {}
    living: set[int] = set()
    for pid, found in proc.stats():
        children.setdefault(found.parent, []).append(pid)
        if found.is_alive:
            living.add(pid)
    below: list[int] = []
    queue = [*roots]
    while queue:
        for child in children.get(queue.pop(), ()):
            queue.append(child)
            if child in living:
                below.append(child)
    return below


def marked(marker: str) -> list[int]:
    """All living processes of ours whose environment carries a run's marker."""
    wanted = f"{MARKER}={marker}".encode()
    found: list[int] = []
    unclear = [pid for pid in proc.pids() if pid != os.getpid()]
    until = time.monotonic() + _EXEC_S
    while True:
        environments = [(pid, proc.environment(pid)) for pid in unclear]
        found += [pid for pid, text in environments if text and wanted in text.split(b"\0")]
        unclear = [pid for pid, text in environments if text == b"" and _is_in_exec(pid)]
        if not unclear or time.monotonic() > until:
            return found
        time.sleep(_PAUSE_S)


def adopted(marker: str, since: int) -> list[int]:
    """The processes of an agent whose recorder was killed that became ours, and all below them.

    They may have cleared their environment. They are those of our children that started after the
    recorder did (in ticks), are not in our own session, and carry no marker of another run. One
    that is ending is among them, although its environment is gone: its children will become ours.
    """
    if not is_subreaper():
        return []
    me, ours = os.getpid(), os.getsid(0)
    found = [
        pid
        for pid, stat in proc.stats()
        if (stat.parent, stat.is_alive) == (me, True)
        and stat.session != ours
        and stat.start_ticks >= since
        and not _is_of_another_run(pid, marker)
    ]
    return [*found, *descendants(*found)] if found else []


def _is_of_another_run(pid: int, marker: str) -> bool:
    """Whether a process is a recorder, or belongs to an agent with another marker."""
    variables = (proc.environment(pid) or b"").split(b"\0")
    markers = (f"{MARKER}=".encode(), f"{RECORDS}=".encode())
    own = f"{MARKER}={marker}".encode()
    return any(one.startswith(markers) and one != own for one in variables)


def names(pids: Iterable[int]) -> list[str]:
    """What the system calls these processes, each as often as it is there."""
    stats = map(proc.stat, pids)
    return sorted(stat.name for stat in stats if stat is not None and stat.is_alive)


def _is_in_exec(pid: int) -> bool:
    """Whether a process that showed no environment has one, or is about to have one."""
    stat = proc.stat(pid)
    return stat is not None and stat.has_environment


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
    send(pids, signal.SIGCONT)


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
    while (left := find()) and time.monotonic() < until:
        send(left, signal.SIGKILL)
        time.sleep(_PAUSE_S)
    return left


def kill_marked(
    marker: str, within_s: float = _MOST_S, *, adopted_since: int | None = None
) -> list[int]:
    """End what outlived a killed recorder; return those that nothing can end.

    What is below a process with the marker belongs to it, even without a marker of its own. With
    `adopted_since`, the start of the recorder, also what became ours by its death.
    """

    def find() -> list[int]:
        agents = marked(marker)
        below = descendants(*agents) if agents else []
        ours = adopted(marker, adopted_since) if adopted_since is not None else []
        return list({*agents, *below, *ours})

    return kill(find, within_s)


def _is_group(leader: int) -> bool:
    try:
        os.kill(-leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # there is one, but not ours
    return True
