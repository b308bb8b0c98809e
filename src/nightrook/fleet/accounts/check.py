"""Checks a machine before it becomes a worker: its clock, its disk, and secrets in reach."""

import ctypes
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from nightrook.fleet.accounts.credentials import STDIN
from nightrook.process.systems.this_system import system
from nightrook.store.home import space_problem

OLDEST_SERVER = (2, 11)
"""Oldest version of nats-server that answers requests for several messages."""

_CLOCK_NOT_SYNCHRONIZED = 5  # TIME_ERROR of adjtimex
_TIMEX_BYTES = 512  # more than any system's struct timex
_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_WORDS = ("docker", "kubepods", "containerd", "libpod", "lxc")


class Finding(NamedTuple):
    """One result of a check."""

    level: Literal["ok", "note", "warning"]
    text: str


def check_machine(source: str, home: Path) -> Iterator[Finding]:
    """Check this machine, as the user that runs the worker."""
    yield _credentials(source)
    yield _user()
    if os.getuid() != 0:
        yield _memory()
    yield _container()
    yield _clock()
    yield _disk(home)


def check_server(version: tuple[int, ...], rook: str) -> Finding:
    """Compare the versions of the server and of this rook with the required ones."""
    shown = ".".join(map(str, version))
    if version < OLDEST_SERVER:
        oldest = ".".join(map(str, OLDEST_SERVER))
        return Finding("warning", f"nats-server {shown} is too old: use {oldest} or later")
    return Finding("ok", f"the server lets this machine in: nats-server {shown}, rook {rook}")


def _credentials(source: str) -> Finding:
    if source == STDIN or source.startswith("fd:"):
        return Finding("ok", "the credentials are in no file that this process names")
    return Finding(
        "warning",
        f"agents run as the same user, and can read {source}: let another user own the file, and "
        "pass it open:  rook worker --credentials fd:3 3< FILE",
    )


def _user() -> Finding:
    if os.getuid() == 0:
        return Finding(
            "warning",
            "agents run as root, and can read everything here, the memory of the worker too: use "
            "another user or a container",
        )
    return Finding("ok", f"agents run as user {os.getuid()}, not as root")


def _memory() -> Finding:
    if system.hide_memory():
        return Finding("ok", "agents of the same user cannot read the memory of the worker")
    return Finding(
        "warning",
        "this system cannot hide the memory of the worker from agents of the same user: use "
        "another machine for agents that you do not trust",
    )


def _container() -> Finding:
    if _is_container():
        return Finding("ok", "this is a container: agents see nothing of the rest of the machine")
    return Finding(
        "note", "this is not a container: agents can read all that their user can read here"
    )


def _is_container() -> bool:
    if any(Path(path).exists() for path in _CONTAINER_FILES):
        return True
    try:
        groups = Path("/proc/1/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(word in groups for word in _CONTAINER_WORDS)


def _clock() -> Finding:
    state = _clock_state()
    if state is None:
        return Finding("note", "whether the clock is synchronized is not known")
    if state == _CLOCK_NOT_SYNCHRONIZED:
        return Finding(
            "note", "the clock is not synchronized: times of this machine's runs may be off"
        )
    return Finding("ok", "the clock is synchronized")


def _clock_state() -> int | None:
    buffer = ctypes.create_string_buffer(_TIMEX_BYTES)  # all zeros: change nothing
    try:
        state: int = ctypes.CDLL(None, use_errno=True).adjtimex(buffer)
    except (OSError, AttributeError):  # only Linux has the call
        return None
    return None if state < 0 else state


def _disk(home: Path) -> Finding:
    problem = space_problem(home)
    if problem is not None:
        return Finding("warning", problem)
    place = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    return Finding("ok", f"{free / 1e9:.1f} GB are free for runs in {home}")
