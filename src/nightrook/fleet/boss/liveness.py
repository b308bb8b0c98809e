"""Tells whether an attempt is alive: its job waits in the queue, or its worker is heard.

A boss that replaces another one continues its wait: if each began again, a run whose bosses are
killed often enough would never be settled. All times are of the server's clock.
"""

import time
from datetime import datetime
from enum import Enum

import msgspec
import nats.errors
from nats.js import errors as js_errors
from nats.js.api import RawStreamMsg

from nightrook.fleet import subjects
from nightrook.fleet.boss.heartbeats import TICK_S, BeatWatch
from nightrook.fleet.claims import SILENT_S
from nightrook.fleet.connection import ConflictError, Connection, ServerAwayError
from nightrook.fleet.messages import BadMessageError, Beat, Job, load

_LOOK_S = 1.0
_LAST_SIGN = "when a run was last heard of"


class Silence:
    """The silence of one attempt: the time in which nothing was heard of it."""

    def __init__(self, connection: Connection, job: Job, beats: BeatWatch) -> None:
        self.seconds = 0.0
        """The time in which this process has listened without a break, and heard nothing."""
        self._connection = connection
        self._job = job
        self._beats = beats
        self._seen_beats = -1
        self._asked_at = 0.0

    def tick(self, worker: str | None) -> None:
        """Count the time since the last tick, if the server could be reached."""
        is_silent = self._connection.is_up and not self._is_heard(worker)
        self.seconds = self.seconds + TICK_S if is_silent else 0.0

    async def is_longer_than(self, limit_s: float, worker: str | None) -> bool:
        """Return whether nothing was heard for this long: here, or by what the server has stored.

        An earlier boss may have waited before; this one listens for three beats in any case.
        """
        if self.seconds > limit_s:
            return True
        if self.seconds <= SILENT_S or time.monotonic() - self._asked_at < _LOOK_S:
            return False
        self._asked_at = time.monotonic()
        if worker is None:
            # guards: wait-for-claim-continued
            return await silent_since_passed(self._connection, self._job) > limit_s
        # guards: wait-for-worker-continued
        return await silent_since_claim(self._connection, self._job, worker) > limit_s

    def _is_heard(self, worker: str | None) -> bool:
        """Return whether a beat that names the run has come since the last look.

        The first one that is seen may be old.
        """
        heard = self._beats.workers.get(worker or "")
        if heard is None or heard.count == self._seen_beats:
            return False
        is_first = self._seen_beats < 0
        self._seen_beats = heard.count
        return not is_first and heard.runs(self._job.run, self._job.attempt)


class JobPlace(Enum):
    """The place of a job."""

    WAITING = "waiting"
    """The job is in the queue: no worker has taken it."""

    PASSED = "passed"
    """A worker has got it, and has not claimed it yet."""

    GONE = "gone"
    """The job was claimed, or was never queued."""


class QueueWatch:
    """Looks at most once a second whether a job still waits."""

    def __init__(self, connection: Connection, job: Job) -> None:
        self._connection = connection
        self._job = job
        self._looked_at = 0.0
        self._has_job = True

    async def has_job(self) -> bool:
        """Return whether the job waits; the server stores when a boss first saw it gone."""
        if self._has_job and time.monotonic() - self._looked_at > _LOOK_S:
            place = await place_of(self._connection, self._job)
            self._looked_at = time.monotonic()
            if place is not JobPlace.WAITING:
                await silent_since_passed(self._connection, self._job)
                self._has_job = False  # it is passed on once, and never comes back
        return self._has_job


async def place_of(connection: Connection, job: Job) -> JobPlace:
    """Look up the place of a job."""
    found = await _find(connection, job)
    return JobPlace.GONE if found is None else found[0]


async def take_back(connection: Connection, job: Job) -> bool:
    """Remove a job from the queue; False if a worker may have got it."""
    found = await _find(connection, job)
    if found is None or found[0] is not JobPlace.WAITING:
        return False
    try:
        await connection.streams.delete_msg(subjects.JOBS, found[1])
        consumer = subjects.job_consumer(job.label, job.agent)
        info = await connection.streams.consumer_info(subjects.JOBS, consumer)
    except js_errors.NotFoundError:
        return False
    except (nats.errors.Error, TimeoutError) as error:
        raise ServerAwayError("the queue cannot be changed now") from error
    delivered = info.delivered.stream_seq if info.delivered else 0
    return delivered < found[1]


async def _find(connection: Connection, job: Job) -> tuple[JobPlace, int] | None:
    subject = subjects.job(job.label, job.agent, job.run, job.attempt)
    consumer = subjects.job_consumer(job.label, job.agent)
    try:
        message = await connection.streams.get_last_msg(subjects.JOBS, subject)
        info = await connection.streams.consumer_info(subjects.JOBS, consumer)
    except js_errors.NotFoundError:
        return None
    except (nats.errors.Error, TimeoutError) as error:
        raise ServerAwayError("the queue cannot be read now") from error
    seq = message.seq or 0
    delivered = info.delivered.stream_seq if info.delivered else 0
    return (JobPlace.WAITING if delivered < seq else JobPlace.PASSED), seq


class _Now(msgspec.Struct):
    ts: datetime


async def silent_since_claim(connection: Connection, job: Job, worker: str) -> float:
    """Seconds since the server stored the last beat, or bytes, of a worker about an attempt."""
    events = subjects.events_of_worker(worker, job.run, job.attempt)
    signs = [await connection.last_message(subjects.EV, events, what=_LAST_SIGN)]
    beat = await connection.last_message(subjects.BEATS, subjects.beat(worker), what=_LAST_SIGN)
    if beat is not None and _names(beat.data or b"", job):
        signs.append(beat)
    return await _seconds_since(connection, signs)


async def silent_since_passed(connection: Connection, job: Job) -> float:
    """Seconds since a boss first saw that a job had left the queue, which the first one stores."""
    subject = subjects.passed(job.run, job.attempt)
    try:
        await connection.publish(subject, b"", expected=0)
    except ConflictError:
        passed = await connection.last_message(subjects.RUNS, subject, what=_LAST_SIGN)
        return await _seconds_since(connection, [passed])
    return 0.0


def _names(data: bytes, job: Job) -> bool:
    try:
        beat: Beat = load(data, Beat)
    except BadMessageError:
        return False
    return any((each.run, each.attempt) == (job.run, job.attempt) for each in beat.running)


async def _seconds_since(connection: Connection, signs: list[RawStreamMsg | None]) -> float:
    """Seconds since the latest of these messages; 0 if there is none: then nothing is known."""
    times = [sign.time for sign in signs if sign is not None and sign.time is not None]
    answer = await connection.ask(f"$JS.API.STREAM.INFO.{subjects.RUNS}")
    try:
        now = msgspec.json.decode(answer, type=_Now).ts
    except msgspec.DecodeError as error:
        raise ServerAwayError("the server does not say its time") from error
    return max(0.0, (now - max(times)).total_seconds()) if times else 0.0
