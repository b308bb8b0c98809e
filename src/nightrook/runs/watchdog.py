"""Decides whether a silent agent is stuck, from its stream and its processes."""

import time
from collections.abc import Callable

from nightrook.model.snapshot import Snapshot
from nightrook.model.stuck_detection import Process, Suspicion, evidence_of, suspect
from nightrook.process import trees
from nightrook.process.systems.this_system import system

_LOOK_S = 1.0  # reading all processes takes some milliseconds

_JUMP_S = 10.0  # a wall clock this far ahead of the steady one means that the machine slept


class Silence:
    """Measures how long an agent has written nothing; time while the machine sleeps is left out.

    `steady` stands still while the machine sleeps, `wall` does not.
    """

    def __init__(
        self,
        steady: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._steady = steady
        self._wall = wall
        self._started = steady()
        self._difference = wall() - steady()

    @property
    def seconds(self) -> float:
        """The duration of the silence."""
        return self._steady() - self._started

    def end(self) -> None:
        """End this silence, because the agent wrote something; a new one starts."""
        self._started = self._steady()

    def look(self) -> None:
        """Start again if the machine slept since the last look: the agent could not write."""
        difference = self._wall() - self._steady()
        if abs(difference - self._difference) > _JUMP_S:  # guards: sleep-is-no-silence
            self.end()
        self._difference = difference


class Watchdog:
    """Watches one run; `marker` is in the environment of its processes."""

    def __init__(self, marker: str, idle_s: float) -> None:
        self._marker = marker
        self._idle_s = idle_s
        self._looked = float("-inf")
        self._count = -1
        self._cpu_s = 0.0  # CPU time of the process tree at the first look at this silence

    def is_due(self, silent_s: float) -> bool:
        """True if a check is due: after a long silence, and not too often."""
        return silent_s > self._idle_s and time.monotonic() - self._looked >= _LOOK_S

    def look(self, shot: Snapshot, *, silent_s: float, count: int) -> Suspicion | None:
        """Return why the run seems to be stuck; `count` grows whenever it writes something.

        It reads all processes, which takes a while: any thread may call it.
        """
        self._looked = time.monotonic()
        processes = _processes(self._marker)
        used = sum(process.cpu_s for process in processes or ())
        if count != self._count:
            self._count, self._cpu_s = count, used
        evidence = evidence_of(
            shot,
            now=time.time(),
            silent_s=silent_s,
            processes=processes,
            cpu_s=None if processes is None else max(0.0, used - self._cpu_s),
        )
        return suspect(evidence, idle_s=self._idle_s)


def _processes(marker: str) -> tuple[Process, ...] | None:
    """The living processes that carry a run's marker; None where the system does not say."""
    if not system.is_available():
        return None
    found = ((pid, system.stat(pid)) for pid in trees.marked(marker))
    return tuple(
        Process(pid, stat.state, stat.cpu_s)
        for pid, stat in found
        if stat is not None and stat.is_alive
    )
