"""Looks whether a silent agent lives: by what its stream told, and by its processes."""

import time

from rookery.model.state import RunState
from rookery.model.stuck import Suspicion, evidence_of, suspect
from rookery.process.tree_snapshot import snapshot

_LOOK_S = 1.0  # a look at all processes costs some milliseconds


class Life:
    """Watches one run; `marker` is what its processes carry in their environment."""

    def __init__(self, marker: str, idle_s: float) -> None:
        self._marker = marker
        self._idle_s = idle_s
        self._looked = float("-inf")
        self._news = -1
        self._cpu_s = 0.0  # what the tree had used when the silence was first looked at

    def look(self, state: RunState, *, silent_s: float, news: int) -> Suspicion | None:
        """Tell why the run seems to be stuck; `news` counts how often it was heard of."""
        now = time.monotonic()
        if silent_s <= self._idle_s or now - self._looked < _LOOK_S:
            return None
        self._looked = now
        processes = snapshot(self._marker)
        used = sum(process.cpu_s for process in processes or ())
        if news != self._news:
            self._news, self._cpu_s = news, used
        known = evidence_of(
            state,
            now=time.time(),
            silent_s=silent_s,
            processes=processes,
            cpu_s=None if processes is None else max(0.0, used - self._cpu_s),
        )
        return suspect(known, idle_s=self._idle_s)
