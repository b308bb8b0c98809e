"""macOS, and other systems without Linux's calls: ps, kqueue, and the sessions of processes.

A process that outlives its parent becomes a child of the system's first process here. It still
belongs to its agent if it is in a session of one of the agent's processes, or has the agent's
variable in its environment. Standard library only: the recorder uses it.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
from functools import cache

from nightrook.process.systems.process_table import Peer, ProcessInfo, above, below, is_group

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from socket import socket
    from typing import Any

_PS = "/bin/ps"
_PS_S = 10.0  # it takes some hundredths of a second
_PLAIN = {"LC_ALL": "C", "TZ": "UTC"}  # for dates in English, of one time zone
_COLUMNS = ("pid", "ppid", "state", "time", "lstart", "comm")
_WORDS = 9  # before the last column: lstart has five
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_SAME_START_S = 2  # systems that count from their own start round the seconds
_KERN_PROCARGS2 = (1, 49)  # of sysctl: CTL_KERN, and the arguments and environment of a process
_LONGEST_ARGUMENTS = 1 << 20  # what macOS lets a process have, and what it answers at most
_SOL_LOCAL = 0  # of macOS, with the numbers of its options and the size of its answer
_LOCAL_PEERCRED = 1
_LOCAL_PEERPID = 2
_XUCRED_SIZE = 76
_select: Any = select  # kqueue is not in it on every system
_queues: list[Any] = []  # a queue is closed when nothing refers to it any more

ORPHANS_STAY = False
"""True where a process that is orphaned below a recorder stays below it."""

WEAKER = (
    "a process that leaves the agent's session and clears or hides its environment can outlive it",
    "of what an agent wrote last, more than a pipe holds can be lost if it does not wait",
    "the system does not end the agent before rook when memory is short",
)
"""The guarantees that this system cannot give at all; docs/running.md has the rest."""


class Tree:
    """The processes of an agent: below us, in a session of one of them, or with its variable."""

    def __init__(self, leader: int, variable: bytes) -> None:
        self._leader = leader
        self._variable = variable
        self._sessions = {leader}

    def pids(self) -> list[int]:
        """The ids to signal to reach all of it; without ps it is the leader's process group."""
        return [*self._members()] if is_available() else [-self._leader]

    def names(self) -> list[str]:
        """The names of its processes, each as often as it is there."""
        return sorted(found.name for found in self._members().values())

    def outlives_us(self) -> bool:
        """Return whether any of it is left when none is our child."""
        return bool(self._members()) if is_available() else is_group(self._leader)

    def remember(self) -> None:
        """Remember the sessions of all processes: when one ends, those below it are orphans."""
        self._members()

    def _members(self) -> dict[int, ProcessInfo]:
        processes = dict(stats())
        # guards: macos-orphan-marker
        found = {*below(processes.items(), os.getpid()), *_having(self._variable, processes)}
        # guards: macos-sessions-kept
        members, self._sessions = _with_sessions(found, self._sessions, processes)
        return {pid: processes[pid] for pid in members}


def marked(variable: bytes) -> list[int]:
    """Return all living processes of ours that have a variable in their environment.

    Those in the sessions of such processes are among them: macOS hides the environments of its
    own programs, such as /bin/sh.
    """
    processes = dict(stats())
    members, _ = _with_sessions(_having(variable, processes), set(), processes)
    return [*members]


def _with_sessions(
    found: set[int], sessions: set[int], processes: dict[int, ProcessInfo]
) -> tuple[set[int], set[int]]:
    """Return processes with all below them or in their sessions, and those sessions but ours."""
    session_of = {pid: _session(pid) for pid, info in processes.items() if info.is_alive}
    while True:
        # guards: macos-own-session
        sessions = {*sessions, *(session_of.get(pid, 0) for pid in found)} - {os.getsid(0), 0}
        # guards: macos-orphan-session
        more = {pid for pid, session in session_of.items() if session in sessions}
        members = {*found, *more, *below(processes.items(), *found, *more)} - {os.getpid()}
        if members == found:
            return members, sessions
        found = members


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:  # it is gone
        return 0


def _having(variable: bytes, pids: Iterable[int]) -> set[int]:
    return {pid for pid in pids if variable in arguments(pid).split(b"\0")} - {os.getpid()}


def arguments(pid: int) -> bytes:
    """The arguments and the environment of a process, each closed by a zero; empty if hidden."""
    text = b""
    if sys.platform == "darwin":
        data = ctypes.create_string_buffer(_LONGEST_ARGUMENTS)
        size = ctypes.c_size_t(_LONGEST_ARGUMENTS)
        name = (ctypes.c_int * 3)(*_KERN_PROCARGS2, pid)
        answer = (data, ctypes.byref(size), None, ctypes.c_size_t(0))
        if ctypes.CDLL(None).sysctl(name, 3, *answer) == 0:
            text = ctypes.string_at(data, size.value)  # `raw` would copy all of it first
    return text


@cache
def is_available() -> bool:
    """Return whether ps works here; it may not in a sandbox."""
    return any(_ps("-p", str(os.getpid())))


def problems() -> list[str]:
    """Name the features of a usual macOS that are missing here."""
    missing = []
    if not is_available():
        missing.append("only the agent's own process group is ended: ps does not work here")
    if not hasattr(_select, "kqueue"):
        missing.append("the end of the agent is noticed by signals: the system lacks kqueue")
    return missing


def stat(pid: int) -> ProcessInfo | None:
    """Look up a process; None if it has gone."""
    try:
        os.kill(pid, 0)  # takes no time, and most that are asked for have gone
    except (ProcessLookupError, OverflowError):
        return None
    except PermissionError:
        pass  # it is another user's
    return next((found for _, found in _ps("-p", str(pid))), None)


def stats() -> Iterator[tuple[int, ProcessInfo]]:
    """Look up all processes."""
    return _ps("-A")


def _ps(*selection: str) -> Iterator[tuple[int, ProcessInfo]]:
    """The lines of ps on processes, without its own; nothing if it does not work."""
    import subprocess  # slow to import, and most commands do without it

    columns = [word for column in _COLUMNS for word in ("-o", f"{column}=")]
    try:
        process = subprocess.Popen(
            [_PS, "-ww", *selection, *columns],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_PLAIN,
        )
    except OSError:
        return
    with process:
        try:
            text, _ = process.communicate(timeout=_PS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return
    for line in text.split(b"\n"):
        pid, _, _ = line.strip().partition(b" ")
        found = process_of(line) if pid.isdigit() and int(pid) != process.pid else None
        if found is not None:
            yield int(pid), found


def process_of(line: bytes) -> ProcessInfo | None:
    """Read a line of ps; None if it is not as expected."""
    words = line.strip().split(None, _WORDS)
    try:
        _, parent, state, cpu, _, month, day, clock, year, name = words
        return ProcessInfo(
            name=os.path.basename(name).decode("utf-8", "replace"),
            state=state[:1].decode(),
            parent=int(parent),
            cpu_s=_seconds(cpu),
            start=_start(month.decode(), int(day), clock, int(year)),
        )
    except ValueError:
        return None


def _seconds(cpu: bytes) -> float:
    """The seconds of `1-02:03:04`, of `3:04.05` and the like."""
    days, _, clock = cpu.rpartition(b"-")
    seconds = 0.0
    for part in clock.split(b":"):
        seconds = seconds * 60 + float(part)
    return int(days or 0) * 86400 + seconds


def _start(month: str, day: int, clock: bytes, year: int) -> int:
    from datetime import UTC, datetime  # the start of the agent does not wait for it

    hour, minute, second = map(int, clock.split(b":"))
    number = _MONTHS.index(month) // 3 + 1
    return int(datetime(year, number, day, hour, minute, second, tzinfo=UTC).timestamp())


def carries(pid: int, names: tuple[bytes, ...]) -> bool | None:
    """Search the environment of a process for one of some variables, as far as it is visible.

    `names` end with `=`.
    """
    return any(one.startswith(names) for one in arguments(pid).split(b"\0"))


def peer_of(connection: socket) -> Peer | None:
    """The process at the other end of a connection; None if the system does not say."""
    import socket  # slow to import, and a recorder does without it
    import struct

    try:
        if sys.platform == "darwin":
            credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_SIZE)
            pid, uid = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID), _uid(credentials)
        else:
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid, uid, _ = struct.unpack("3i", credentials)
    except (AttributeError, OSError, struct.error):
        return None
    return Peer(pid, uid, None) if pid > 0 else None


def _uid(xucred: bytes) -> int:
    import struct

    _, uid = struct.unpack_from("=II", xucred)
    return int(uid)


def holders(
    _local: tuple[str, int], _remote: tuple[str, int], _likely: Iterable[int] = ()
) -> list[int]:
    """Return no processes: systems without /proc do not show who holds a connection."""
    return []


def short_path(_folder: int, _name: str) -> str | None:
    """Return None: a socket is reached by its own path here, which must be short enough."""
    return None


def lineage(pid: int) -> list[tuple[int, int]] | None:
    """A process and all above it, with their starts; None if that is not known."""
    return above(pid, dict(stats()).get)


def is_same_start(one: int, other: int) -> bool:
    """Return whether two starts are those of the same process."""
    return abs(one - other) <= _SAME_START_S


def adopted(_since: int) -> list[tuple[int, list[bytes]]]:
    """Return no processes: orphans do not become our children here."""
    return []


def become_subreaper() -> bool:
    """Return False: only Linux can make orphaned descendants our children."""
    return False


def hide_memory() -> bool:
    """Return False: only Linux has this setting; elsewhere a debugger needs special rights."""
    return False


def end_descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is none."""
    try:
        queue = _select.kqueue()
        queue.control([_end_of(pid)], 0)
    except (AttributeError, OSError):  # no kqueue, or the process is gone
        return None
    _queues.append(queue)
    return int(queue.fileno())


def _end_of(pid: int) -> Any:
    return _select.kevent(
        pid,
        filter=_select.KQ_FILTER_PROC,
        flags=_select.KQ_EV_ADD,
        fflags=_select.KQ_NOTE_EXIT,
    )


def enlarge_pipe(_writing: int) -> None:
    """Do nothing: only Linux lets the size of a pipe be set."""


def raise_oom_score() -> int | None:
    """Return None: only Linux lets a process be the first to end for lack of memory."""
    return None


def lower_oom_score(_score: int | None) -> None:
    """Do nothing: only Linux lets a process be the first to end for lack of memory."""


def open_files() -> list[int]:
    """The numbers of our own open files; empty where the system does not list them."""
    try:
        return [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return []
