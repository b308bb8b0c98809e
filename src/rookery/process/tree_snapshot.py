"""A snapshot of an agent's process tree: who lives, in what state, and with how much CPU time."""

import os

from rookery.model.stuck import Process
from rookery.process import trees

_PROC = "/proc"


def snapshot(marker: str) -> tuple[Process, ...] | None:
    """The living processes that carry a run's marker; None where the system does not tell."""
    if not os.path.isdir(f"{_PROC}/self"):
        return None
    tick = os.sysconf("SC_CLK_TCK")
    found = (_process(pid, tick) for pid in trees.marked(marker))
    return tuple(process for process in found if process is not None)


def _process(pid: int, tick: int) -> Process | None:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return None
    fields = stat[stat.rfind(b")") + 2 :].split()
    if len(fields) < 13 or fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, fields[0].decode(), (int(fields[11]) + int(fields[12])) / tick)
