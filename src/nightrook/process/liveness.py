"""Checks if a process lives, and is the one that had this id when it was recorded."""

import os
import signal
from contextlib import suppress

from nightrook.process.systems.this_system import system


def start_ticks(pid: int) -> int | None:
    """The start of a process, in the system's own unit; None if it does not say."""
    found = system.stat(pid)
    return None if found is None else found.start


def is_alive(pid: int, ticks: int | None) -> bool:
    """Return whether a process lives and was started at those ticks."""
    if pid <= 0:
        return False
    if system.is_available():
        found = system.stat(pid)
        if found is None or not found.is_alive:
            return False
        # guards: process-id-reused
        return ticks is None or system.is_same_start(ticks, found.start)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # it lives, but belongs to another user
    return True


def is_same_process(pid: int, ticks: int | None) -> bool:
    """Return whether the process that a run names lives; unknown ticks may be another one's."""
    # guards: start-time-required
    return (ticks is not None or not system.is_available()) and is_alive(pid, ticks)


def is_stopped(pid: int, ticks: int | None) -> bool:
    """Return whether a process is stopped by a signal (SIGSTOP), and was started at those ticks."""
    found = system.stat(pid) if is_same_process(pid, ticks) else None
    return found is not None and found.state.startswith("T")


def continue_stopped(pid: int, ticks: int | None) -> bool:
    """Continue a process that is stopped; return whether it was."""
    if not is_stopped(pid, ticks):
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGCONT)
    return True
