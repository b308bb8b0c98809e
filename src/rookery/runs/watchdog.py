"""Looks whether a silent agent lives: by what its stream told, and by its processes."""

import time

from rookery.model.snapshot import Snapshot
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

    def is_due(self, silent_s: float) -> bool:
        """Whether it is worth a look: after a long silence, and not too often."""
        return silent_s > self._idle_s and time.monotonic() - self._looked >= _LOOK_S

    def look(self, shot: Snapshot, *, silent_s: float, news: int) -> Suspicion | None:
        """Say why the run seems to be stuck; `news` counts how often it was heard of.

        It looks at processes, which takes a while: any thread may call it.
        """
        self._looked = time.monotonic()
        processes = snapshot(self._marker)
        used = sum(process.cpu_s for process in processes or ())
        if news != self._news:
            self._news, self._cpu_s = news, used
        known = evidence_of(
            shot,
            now=time.time(),
            silent_s=silent_s,
            processes=processes,
            cpu_s=None if processes is None else max(0.0, used - self._cpu_s),
        )
        return suspect(known, idle_s=self._idle_s)
