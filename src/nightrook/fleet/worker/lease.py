"""The fence of a worker: an agent is stopped before the boss may think that its run is lost.

The boss counts from the last beat that it saw; the worker counts from when it sent the last beat
that the server confirmed, which is earlier. The worker stops an agent after a part of the lease and
kills it after a larger part, so its agent has ended before the boss may start another attempt.
Only a worker that is itself frozen acts late: at once, when it wakes.
"""

import time
from collections.abc import Callable

_STOP_AFTER, _KILL_AFTER = 0.6, 0.8


class Lease:
    """When this worker was last known to be heard."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._heard_at = now()

    def start(self) -> float:
        """A beat is sent now; pass the result to `confirm`."""
        return self._now()

    def confirm(self, sent_at: float) -> None:
        """The server has the beat that was sent at that time."""
        self._heard_at = max(self._heard_at, sent_at)

    @property
    def silent_s(self) -> float:
        """For how long the server may not have heard of this worker."""
        return self._now() - self._heard_at

    def must_stop(self, lease_s: float) -> bool:
        """Whether an agent with this lease has to stop now."""
        return self.silent_s > lease_s * _STOP_AFTER

    def must_kill(self, lease_s: float) -> bool:
        """Whether an agent with this lease has to be killed now."""
        return self.silent_s > lease_s * _KILL_AFTER
