"""Linux: /proc (the only module that reads it), pidfd, the subreaper, the size of pipes.

Standard library only: the recorder uses it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
import time
from contextlib import suppress

from nightrook.process.systems.process_table import Peer, ProcessInfo, above, below, is_group

assert sys.platform == "linux"

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from socket import socket

_PROC = "/proc"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_DUMPABLE = 4
_PR_GET_CHILD_SUBREAPER = 37
_MORE_LIKELY = 300  # of at most 1000: what an agent's processes get above our own score
_PIPE_SIZE = 1 << 20  # what Linux lets anybody ask for
_EXEC_S = 5.0  # an exec takes no longer, even on a busy machine
_PAUSE_S = 0.001
_SO_PEERPIDFD = 77  # since Linux 6.5

ORPHANS_STAY = True
"""True where a process that is orphaned below a recorder stays below it."""

WEAKER: tuple[str, ...] = ()
"""The guarantees that this system cannot give at all; docs/running.md has the rest."""


class _Stat(ProcessInfo):
    """The parts of a process's `stat` that rook uses."""

    __slots__ = ("has_environment", "session")

    def __init__(self, name: bytes, fields: list[bytes]) -> None:
        super().__init__(
            name=name.decode("utf-8", "replace"),
            state=fields[0].decode(),
            parent=int(fields[1]),
            cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
            start=int(fields[19]),  # in ticks since the system was started
        )
        self.session = int(fields[3])
        # In the middle of an exec there is memory, but the environment has no place yet.
        self.has_environment = fields[20] != b"0" and (
            fields[48] == b"0" or fields[47] != fields[48]
        )


class Tree:
    """The processes of an agent: orphans become our children, so that all are below us."""

    def __init__(self, leader: int, _variable: bytes) -> None:
        self._leader = leader

    def pids(self) -> list[int]:
        """The ids to signal to reach all of it; without /proc it is the leader's process group."""
        return below(stats(), os.getpid()) if is_available() else [-self._leader]

    def names(self) -> list[str]:
        """The names of its processes, each as often as it is there."""
        found = map(stat, below(stats(), os.getpid()))
        return sorted(one.name for one in found if one is not None and one.is_alive)

    def outlives_us(self) -> bool:
        """Return whether any of it is left: without /proc, its process group."""
        return not is_available() and is_group(self._leader)

    def remember(self) -> None:
        """Do nothing: no process can leave the tree."""


def is_available() -> bool:
    """Return whether this system has a /proc, and it has our own process ids.

    In a PID namespace, /proc may be that of another one: its ids would be those of strangers.
    """
    try:
        return os.readlink(f"{_PROC}/self") == str(os.getpid())  # guards: own-proc
    except OSError:
        return False


def problems() -> list[str]:
    """Name the features of a usual Linux that are missing here."""
    missing = []
    if not is_available():
        missing.append("only the agent's own process group is ended: /proc is not that of rook")
    if not hasattr(os, "pidfd_open"):
        missing.append("the end of the agent is noticed by signals: the system lacks pidfd")
    return missing


def pids() -> list[int]:
    """The ids of all processes; none where /proc is not ours."""
    if not is_available():
        return []
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return []


def stat(pid: int) -> _Stat | None:
    """Look up a process; None if it has gone, or /proc is not ours."""
    return _stat(pid) if is_available() else None


def stats() -> Iterator[tuple[int, _Stat]]:
    """Look up all processes."""
    for pid in pids():
        found = _stat(pid)
        if found is not None:
            yield pid, found


def _stat(pid: int) -> _Stat | None:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return None
    end = line.rfind(b")")  # the name may contain blanks and brackets
    fields = line[end + 2 :].split()
    return _Stat(line[line.find(b"(") + 1 : end], fields) if len(fields) > 48 else None


def lineage(pid: int) -> list[tuple[int, int]] | None:
    """A process and all above it, with their starts; None if that is not known."""
    return above(pid, _stat) if is_available() else None


def is_same_start(one: int, other: int) -> bool:
    """Return whether two starts are those of the same process."""
    return one == other


def environment(pid: int) -> bytes | None:
    """The environment a process was started with.

    It is empty in the middle of an exec, and None for another user's process.
    """
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return None


def marked(variable: bytes) -> list[int]:
    """Return all living processes of ours that have a variable in their environment."""
    found: list[int] = []
    unclear = [pid for pid in pids() if pid != os.getpid()]
    until = time.monotonic() + _EXEC_S
    while True:
        environments = [(pid, environment(pid)) for pid in unclear]
        found += [pid for pid, text in environments if text and variable in text.split(b"\0")]
        unclear = [pid for pid, text in environments if text == b"" and _is_in_exec(pid)]
        if not unclear or time.monotonic() > until:  # guards: process-in-exec
            return found
        time.sleep(_PAUSE_S)


def _is_in_exec(pid: int) -> bool:
    """Return whether a process that showed no environment has one, or is about to have one."""
    found = stat(pid)
    return found is not None and found.has_environment


def carries(pid: int, names: tuple[bytes, ...]) -> bool | None:
    """Search the environment of a process for one of some variables; None if it is not known.

    `names` end with `=`.
    """
    until = time.monotonic() + _EXEC_S
    while (text := environment(pid)) == b"" and _is_in_exec(pid):
        if time.monotonic() > until:
            return None
        time.sleep(_PAUSE_S)
    return None if text is None else any(one.startswith(names) for one in text.split(b"\0"))


def peer_of(connection: socket) -> Peer | None:
    """The process at the other end of a connection; None if the system does not say."""
    import socket  # slow to import, and a recorder does without it
    import struct

    try:
        size = struct.calcsize("3i")
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    except OSError:
        return None
    pid, uid, _ = struct.unpack("3i", credentials)
    return Peer(pid, uid, _peer_descriptor(connection, pid)) if pid > 0 else None


def _peer_descriptor(connection: socket, pid: int) -> int | None:
    """A descriptor of the process itself, by which it cannot be mistaken for a later one."""
    import socket

    try:
        return connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError:  # the process has ended, or the system is older
        return end_descriptor(pid)


def adopted(since: int) -> list[tuple[int, list[bytes]]]:
    """Return our children in other sessions that started since then, with their environments.

    There are some only where orphans become our children.
    """
    if not is_subreaper():
        return []
    me, ours = os.getpid(), os.getsid(0)
    return [
        (pid, (environment(pid) or b"").split(b"\0"))
        for pid, found in stats()
        if (found.parent, found.is_alive) == (me, True)
        and found.session != ours  # guards: own-children-kept
        and found.start >= since
    ]


def become_subreaper() -> bool:
    """Make orphaned descendants our children, so that none can leave the tree."""
    try:
        done: int = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        return done == 0
    except (OSError, AttributeError):
        return False


def is_subreaper() -> bool:
    """Return whether orphaned descendants become our children."""
    answer = ctypes.c_int()
    try:
        ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return answer.value == 1


def hide_memory() -> bool:
    """Keep processes of the same user from reading our memory, environment and descriptors."""
    try:
        done: int = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        return done == 0
    except (OSError, AttributeError):
        return False


def end_descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def holders(
    local: tuple[str, int], remote: tuple[str, int], likely: Iterable[int] = ()
) -> list[int]:
    """The processes that hold a TCP connection on this machine, at its end with the local address.

    Those of other users are not among them, nor those that hide their files. If likely ones hold
    it, no others are looked at: to look at the files of all processes takes long.
    """
    socket_file = _socket_file(_hexadecimal(*local), _hexadecimal(*remote))
    if socket_file is None:
        return []
    found = [pid for pid in likely if _has_open(pid, socket_file)]
    return found or [pid for pid in pids() if _has_open(pid, socket_file)]


def _hexadecimal(host: str, port: int) -> str:
    """An IPv4 address as the system's table of connections has it."""
    parts = [int(part) for part in host.rpartition(":")[2].split(".")]
    return "".join(f"{part:02X}" for part in reversed(parts)) + f":{port:04X}"


def _socket_file(local: str, remote: str) -> str | None:
    """Return the name that the system gives the file of a connection."""
    for table in ("tcp", "tcp6"):  # an IPv6 address may stand for an IPv4 one
        try:
            with open(f"{_PROC}/net/{table}", encoding="ascii") as file:
                rows = [line.split() for line in file]
        except OSError:
            continue
        for row in rows[1:]:
            if len(row) > 9 and row[1].endswith(local) and row[2].endswith(remote):
                return f"socket:[{row[9]}]"
    return None


def _has_open(pid: int, name: str) -> bool:
    """Return whether a process of ours has a file open."""
    folder = f"{_PROC}/{pid}/fd"
    try:
        numbers = os.listdir(folder)
    except OSError:
        return False
    for number in numbers:
        with suppress(OSError):
            if os.readlink(f"{folder}/{number}") == name:
                return True
    return False


def short_path(folder: int, name: str) -> str | None:
    """A short path to a file in an open folder: that of a socket has at most 107 bytes."""
    return f"{_PROC}/self/fd/{folder}/{name}" if is_available() else None


def enlarge_pipe(writing: int) -> None:
    """Enlarge a pipe as much as the system allows."""
    with suppress(OSError, AttributeError):  # this user's pipes together hold too much already
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)  # guards: pipe-size


def raise_oom_score() -> int | None:
    """Make processes we start likelier to be ended for lack of memory; return the old score."""
    try:
        with open(f"{_PROC}/self/oom_score_adj", "rb") as file:
            score = int(file.read())
    except (OSError, ValueError):
        return None
    _set_oom_score(min(score + _MORE_LIKELY, 1000))  # guards: killed-before-recorder
    return score


def lower_oom_score(score: int | None) -> None:
    """Set our own score back; processes started since then keep theirs."""
    if score is not None:
        _set_oom_score(score)


def _set_oom_score(score: int) -> None:
    """Set that of ours, and of processes that we start from now on; it may not be permitted."""
    with suppress(OSError), open(f"{_PROC}/self/oom_score_adj", "wb") as file:
        file.write(b"%d" % score)


def open_files() -> list[int]:
    """The numbers of our own open files; empty where the system does not list them."""
    try:
        return [int(name) for name in os.listdir(f"{_PROC}/self/fd")]
    except OSError:
        return []
