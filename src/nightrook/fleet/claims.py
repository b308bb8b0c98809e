"""The claim on a job: the worker that holds it, and the time for which the claim is valid.

Theory of operation
-------------------

A boss asks for a run, a worker runs it, and a server stores what they write to each other. Each of
the three can be killed, frozen or cut off at any moment, and none can look into another. Still an
agent is never started twice for one attempt, and every attempt ends in exactly one settlement.

The states of an attempt, and what proves each, all on the server:

    recorded   `run.RUN.N` is stored, which the server does only if it is empty: the name is ours
    waiting    `job.LABEL.AGENT.RUN.N` is in the queue; it is put there once, never again
    passed     the queue gave it to one worker, the only time (`max_deliver` 1); a boss that sees
               this stores `run.RUN.N.passed`, whose time counts for every boss
    claimed    the worker acknowledged it, and then stored `claimed`, before it starts anything
    ended      the worker stored `ended` after all bytes, or nothing was heard for too long
    settled    `settle.RUN.N` is stored, only if it is empty; `lost` may be replaced once

*Who holds it.* The claim is a secret in the job. The queue shows it to one worker; everyone else
sees its SHA-256. A message about an attempt counts if it has the claim, or comes from the worker
whose message had it. A worker that cannot be certain that its claim is stored, or that took longer
than `CLAIM_S` from its request, does not start: it reports the job as returned. The boss waits
`UNCLAIMED_S`, twice as long, before it calls a job lost that was passed and never claimed.

*The lease* binds both sides to beats, one every `BEAT_S`, without asking each other. The worker
counts from when it **sent** the last beat that the server confirmed: after `STOP_AFTER` of the
lease it stops its agents, after `KILL_AFTER` it kills them. The boss counts from when it **saw**
the last beat, which is later, and gives up after the whole lease. So when the boss gives up, the
agent has ended. Only a worker that is itself frozen acts late: at once, when it wakes. Then two
agents of two attempts can overlap, but never two of one attempt, and only one settlement counts.

*Time* is never compared between machines. A worker and a boss count by their own steady clocks, a
boss only while it can reach the server. A boss that replaces another one continues its wait by the
times that the server has stored, but listens for `SILENT_S` itself in any case.

*Taking over.* Nothing of a boss is needed but its folder, and not even that: any number of bosses
can follow an attempt. One of them, which holds the lock of the folder, copies and settles; the
settlement that the server stored first counts for all. A worker that starts again finds in its
journal what it had taken, and reports it; it never starts an attempt that it had not started.
"""

import time
from collections.abc import Callable

BEAT_S = 1.0
"""The time between two beats of a worker."""

SILENT_S = 3.0
"""Three beats: a worker that was not heard of for this long is presumed lost."""

CLAIM_S = 10.0
"""A job that a worker could not claim this long after its request is not started."""

UNCLAIMED_S = 20.0
"""A job that was passed to a worker, but was not claimed in this time, is lost."""

LEASE_S = 15.0
"""The time that a worker may be silent before its runs are lost, if the user gives no other."""

STOP_AFTER, KILL_AFTER = 0.6, 0.8
"""The parts of a lease after which a worker that is not heard stops and kills its agents."""


class Lease:
    """The time since a worker was last known to be heard, as the worker counts it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._heard_at = now()

    def start(self) -> float:
        """Return the time of a beat that is sent now; pass it to `confirm`."""
        return self._now()

    def confirm(self, sent_at: float) -> None:
        """Count from the beat that was sent at that time, which the server has."""
        self._heard_at = max(self._heard_at, sent_at)

    @property
    def silent_s(self) -> float:
        """The time for which the server may not have heard of this worker."""
        return self._now() - self._heard_at

    def must_stop(self, lease_s: float) -> bool:
        """Return whether an agent with this lease has to stop now."""
        return self.silent_s > lease_s * STOP_AFTER

    def must_kill(self, lease_s: float) -> bool:
        """Return whether an agent with this lease has to be killed now."""
        return self.silent_s > lease_s * KILL_AFTER
