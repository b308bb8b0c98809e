"""Whether a process lives, and is still the one that had this id when it was recorded."""

import os

from rookery.process import proc


def start_ticks(pid: int) -> int | None:
    """When a process was started, in the system's ticks; None if the system does not say."""
    found = proc.stat(pid)
    return None if found is None else found.start_ticks


def is_alive(pid: int, ticks: int | None) -> bool:
    """Whether a process lives and was started at those ticks."""
    if pid <= 0:
        return False
    if proc.is_available():
        found = proc.stat(pid)
        return found is not None and found.is_alive and ticks in (None, found.start_ticks)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # it lives, but belongs to another user
    return True


def is_same_process(pid: int, ticks: int | None) -> bool:
    """Whether the process that a run names lives; with unknown ticks it may be another one."""
    return (ticks is not None or not proc.is_available()) and is_alive(pid, ticks)
