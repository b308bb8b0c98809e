"""A snapshot of an agent's process tree: which processes live, their state and their CPU time."""

import os

from rookery.model.stuck import Process
from rookery.process import proc, trees


def snapshot(marker: str) -> tuple[Process, ...] | None:
    """The living processes that carry a run's marker; None where the system does not say."""
    if not proc.is_available():
        return None
    tick = os.sysconf("SC_CLK_TCK")
    found = ((pid, proc.stat(pid)) for pid in trees.marked(marker))
    return tuple(
        Process(pid, stat.state, stat.cpu_ticks / tick)
        for pid, stat in found
        if stat is not None and stat.is_alive
    )
