"""A snapshot of an agent's process tree: which processes live, their state and their CPU time."""

from nightrook.model.stuck_detection import Process
from nightrook.process import trees
from nightrook.process.systems.this_system import system


def snapshot(marker: str) -> tuple[Process, ...] | None:
    """The living processes that carry a run's marker; None where the system does not say."""
    if not system.is_available():
        return None
    found = ((pid, system.stat(pid)) for pid in trees.marked(marker))
    return tuple(
        Process(pid, stat.state, stat.cpu_s)
        for pid, stat in found
        if stat is not None and stat.is_alive
    )
