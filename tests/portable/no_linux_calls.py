"""Takes Linux's own calls away from rook, and stands in for the calls of macOS that replace them.

Every Python of `make test-portable` imports this when it starts, the recorders too. rook then uses
the side of `process/systems` for macOS. A module of rook that still opens /proc, calls prctl or
sets the size of a pipe fails; the tests themselves may read /proc.
"""

from __future__ import annotations

import fcntl
import importlib
import importlib.machinery
import os
import select
import signal
import sys
from collections import namedtuple
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

_HERE = os.path.dirname(__file__)
_GONE = (
    (os, ("pidfd_open", "posix_fadvise", "eventfd", "memfd_create", "splice", "copy_file_range")),
    (os, ("fdatasync", "pipe2", "posix_fallocate")),
    (signal, ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo")),
    (fcntl, ("F_SETPIPE_SZ", "F_GETPIPE_SZ", "F_OFD_SETLK", "F_OFD_SETLKW", "F_OFD_GETLK")),
)
_COMMANDS = {1031, 1032, 36, 37, 38}  # the numbers of those of fcntl
_LIBRARIES = ("pathlib", "os", "shutil", "genericpath", "posixpath")
_pidfd_open = os.pidfd_open
_readlink = os.readlink


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise when rook does what only Linux can do."""
    if event in ("open", "os.listdir", "os.scandir") and _is_proc(arguments[0]):
        _check(sys._getframe(1), f"{event} {arguments[0]}")
    elif event == "ctypes.dlsym" and arguments[1] == "prctl":
        _check(sys._getframe(1), "prctl")
    elif event == "fcntl.fcntl" and arguments[1] in _COMMANDS:
        _check(sys._getframe(1), f"fcntl {arguments[1]}")


def _is_proc(path: object) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith("/proc")


def _check(frame: FrameType | None, what: str) -> None:
    while frame is not None and frame.f_globals.get("__name__") in _LIBRARIES:
        frame = frame.f_back
    caller = str(frame.f_globals.get("__name__")) if frame is not None else ""
    if caller.startswith("nightrook.") and not caller.startswith("nightrook.testing"):
        raise SystemError(f"{caller} needs Linux: {what}")


def _checked_readlink(path: Any, **options: Any) -> Any:
    if _is_proc(path):
        _check(sys._getframe(1), f"readlink {path}")
    return _readlink(path, **options)


_Event = namedtuple("_Event", ["ident", "filter", "flags", "fflags"])


class _Queue:
    """Stands in for a kqueue that waits for the end of processes."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self.fileno = self._poll.fileno

    def control(self, changes: list[_Event], most: int) -> list[_Event]:
        """Start to wait; an OSError if a process is gone, as from the real one."""
        for change in changes:
            assert (change.filter, change.flags, change.fflags) == ("process", "add", "exit")
            self._poll.register(_pidfd_open(change.ident), select.EPOLLIN)
        assert most == 0
        return []


_SELECT = SimpleNamespace(
    kqueue=_Queue, kevent=_Event, KQ_FILTER_PROC="process", KQ_EV_ADD="add", KQ_NOTE_EXIT="exit"
)


def _arguments(pid: int) -> bytes:
    """Stands in for sysctl."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"\5\0\0\0/bin/program\0\0\0program\0" + file.read()
    except OSError:
        return b""


def _patch(module: ModuleType) -> None:
    changed: Any = module
    match module.__name__:
        case "nightrook.process.systems.this_system":
            changed.system = importlib.import_module("nightrook.process.systems.portable")
        case "nightrook.process.systems.portable":
            changed._select = _SELECT
            changed.arguments = _arguments
        case "nightrook.process.isolated_python":
            start = (
                f"import sys; sys.path[:0] = [{_HERE!r}]; import no_linux_calls; del sys.path[0]"
            )
            changed._BOOT = f"{start}\n{changed._BOOT}"


class _Finder:
    """Patches modules of rook once they are imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(("nightrook.process.systems", "nightrook.process.isolated_python")):
            return None
        spec: Any = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None:
            return None
        run = spec.loader.exec_module

        def run_and_patch(module: ModuleType) -> None:
            run(module)
            _patch(module)

        spec.loader.exec_module = run_and_patch
        return spec


for _module, _names in _GONE:
    for _name in _names:
        if hasattr(_module, _name):
            delattr(_module, _name)
os.readlink = _checked_readlink
sys.addaudithook(_refuse)
_finder: Any = _Finder()
sys.meta_path.insert(0, _finder)
