"""Where a job is before a worker has claimed it."""

import time
from enum import Enum

import nats.errors
from nats.js import errors as js_errors

from nightrook.fleet import subjects
from nightrook.fleet.boss.silence import silent_since_passed
from nightrook.fleet.connection import Connection, ServerAwayError
from nightrook.fleet.messages import Job

_LOOK_S = 1.0


class JobPlace(Enum):
    """Where a job is."""

    WAITING = "waiting"
    """In the queue: no worker has got it."""

    PASSED = "passed"
    """A worker has got it, and has not claimed it yet."""

    GONE = "gone"
    """It was claimed, or it was never queued."""


async def place_of(connection: Connection, job: Job) -> JobPlace:
    """Where a job is now."""
    found = await _find(connection, job)
    return JobPlace.GONE if found is None else found[0]


class QueueWatch:
    """Looks at most once a second whether a job still waits."""

    def __init__(self, connection: Connection, job: Job) -> None:
        self._connection = connection
        self._job = job
        self._looked_at = 0.0
        self._has_job = True

    async def has_job(self) -> bool:
        """Whether no worker has taken the job; the server stores when a boss first saw that."""
        if self._has_job and time.monotonic() - self._looked_at > _LOOK_S:
            place = await place_of(self._connection, self._job)
            self._looked_at = time.monotonic()
            if place is not JobPlace.WAITING:
                await silent_since_passed(self._connection, self._job)
                self._has_job = False  # it is passed on once, and never comes back
        return self._has_job


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
