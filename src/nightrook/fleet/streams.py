"""The streams of a fleet, and the consumers of jobs: made by the boss, kept by the server."""

from typing import Any

from nats.js import JetStreamContext, api
from nats.js import errors as js_errors

from nightrook.fleet import subjects
from nightrook.fleet.claims import UNCLAIMED_S
from nightrook.fleet.connection import Connection, FleetError

DEDUPE_S = 600.0
"""The time in which the server stores a message with the same id only once."""

_GB = 1024**3
_DAY_S = 86_400.0
_EV_BYTES = 16 * _GB
_LEAST_BYTES = 64 * 1024**2
_NO_ROOM, _EXISTS = 10047, 10058


def _configs(max_bytes: int) -> list[api.StreamConfig]:
    """The streams; one that is full refuses, unless only its newest messages count."""
    newest = api.DiscardPolicy.OLD
    small = max_bytes // 16
    return [
        _config(
            subjects.JOBS,
            retention=api.RetentionPolicy.WORK_QUEUE,
            max_bytes=small,
            duplicate_window=DEDUPE_S,
            allow_direct=None,
        ),
        _config(subjects.EV, max_bytes=max_bytes, max_age=14 * _DAY_S, duplicate_window=DEDUPE_S),
        _config(subjects.BEATS, discard=newest, max_msgs_per_subject=1, max_age=_DAY_S),
        _config(subjects.ORDERS, discard=newest, max_bytes=small, max_age=3600.0),
        _config(
            subjects.RUNS,
            max_bytes=max_bytes // 4,
            max_age=90 * _DAY_S,
            duplicate_window=DEDUPE_S,
        ),
        _config(subjects.BLOBS, max_bytes=max_bytes, max_age=_DAY_S),
    ]


def _config(name: str, **settings: Any) -> api.StreamConfig:
    usual = {"discard": api.DiscardPolicy.NEW, "allow_direct": True}
    return api.StreamConfig(
        name=name, subjects=list(subjects.STREAMS[name]), **{**usual, **settings}
    )


async def make_streams(connection: Connection, *, max_bytes: int = _EV_BYTES) -> None:
    """Make the streams that are missing; those that exist stay as they are.

    The logs of runs may take `max_bytes`, or less if the server's disk has no room for that.
    """
    while True:
        try:
            await _make_streams(connection, max_bytes)
            return
        except js_errors.APIError as error:
            if error.err_code != _NO_ROOM or max_bytes < _LEAST_BYTES:
                message = f"the streams cannot be made: {error.description}"
                raise FleetError(message) from error
            max_bytes //= 4


async def _make_streams(connection: Connection, max_bytes: int) -> None:
    manager = connection.streams
    existing = {info.config.name for info in await manager.streams_info()}
    for config in _configs(max_bytes):
        if config.name not in existing:
            await _add(manager, config)
    if subjects.BUDGETS_STREAM not in existing:
        await manager.create_key_value(bucket=subjects.BUDGETS, history=1, direct=True)


async def _add(manager: JetStreamContext, config: api.StreamConfig) -> None:
    try:
        await manager.add_stream(config)
    except js_errors.APIError as error:
        if error.err_code != _EXISTS:  # another boss was first
            raise


async def make_queue(connection: Connection, label: str, agent: str) -> None:
    """Make the consumer from which workers pull the jobs of a label and an agent."""
    config = api.ConsumerConfig(
        durable_name=subjects.job_consumer(label, agent),
        filter_subject=subjects.jobs_of(label, agent),
        ack_policy=api.AckPolicy.EXPLICIT,
        ack_wait=UNCLAIMED_S,
        max_deliver=1,
        max_ack_pending=10_000,
    )
    try:
        await connection.streams.add_consumer(subjects.JOBS, config)
    except js_errors.APIError as error:
        raise FleetError(f"the queue of jobs cannot be made: {error.description}") from error
