"""Asks a fleet for a run: recorded first, then paid for, then queued; each at most once."""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from nightrook.config.options import RunOptions
from nightrook.fleet import subjects
from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.boss.folders import FleetState, make_folder
from nightrook.fleet.boss.repositories import SentRepository
from nightrook.fleet.boss.settlement import judge_refused, settle
from nightrook.fleet.claims import LEASE_S
from nightrook.fleet.connection import (
    ConflictError,
    Connection,
    FleetError,
    ServerAwayError,
)
from nightrook.fleet.messages import Job, Settlement, dump
from nightrook.fleet.repository.fetch import keep_origin
from nightrook.fleet.streams import make_queue
from nightrook.store.file_names import RUNS
from nightrook.store.names import new_names
from nightrook.store.run_folder import RunFolder
from nightrook.version import __version__

_TRIES = 5
_RETRY_S = 0.5


class NoMoneyError(FleetError):
    """The budget has not enough left for the ceiling of a run."""


def job_of(
    options: RunOptions,
    *,
    label: str | None = None,
    lease_s: float = LEASE_S,
    budget: str | None = None,
    part_of: tuple[str, int] | None = None,
) -> Job:
    """Return the job of a run with these options; refuse options that only work here."""
    if options.resume is not None:
        raise FleetError("a fleet cannot resume a session: its files are on one machine")
    if options.worktree:
        raise FleetError("on a fleet, every run has a folder of its own: leave out --worktree")
    if not options.stream:
        raise FleetError("a fleet needs the agent's messages: leave out --no-stream")
    if options.env:
        raise FleetError("on a fleet, an agent has the environment of its machine: leave out env")
    claim = secrets.token_hex(16)
    return Job(
        run="_",
        claim=claim,
        claim_sha256=hashlib.sha256(claim.encode()).hexdigest(),
        label=label or subjects.ANY,
        lease_s=lease_s,
        options=options.portable,
        budget=budget,
        part_of=part_of or options.loop,
        boss_version=__version__,
    )


def next_attempt(job: Job) -> Job:
    """The job that tries a lost run once more, under the next number and with a new claim."""
    claim = secrets.token_hex(16)
    digest = hashlib.sha256(claim.encode()).hexdigest()
    return replace(job, attempt=job.attempt + 1, claim=claim, claim_sha256=digest)


async def submit(
    connection: Connection, home: Path, job: Job, sent: SentRepository | None = None
) -> tuple[RunFolder, FleetState]:
    """Record, reserve and queue a job; return its folder here.

    A first attempt gets its name here: the record is stored only if no run on the server has it.
    A boss that dies in between leaves a run that was never queued, which is settled as lost: a job
    is never queued a second time. A server that does not confirm may have queued it: it has to be
    followed like any other.
    """
    await make_queue(connection, job.label, job.agent)
    plan = sent.plan if sent is not None else None
    job = replace(job, submitted_at=time.time(), repository=plan)
    job = await _recorded(connection, home, job)
    state = FleetState(server=connection.address.url, job=job.public)
    folder = await asyncio.to_thread(make_folder, home, state)
    if sent is not None:
        await asyncio.to_thread(keep_origin, folder, sent.origin)
    try:
        await _reserved(connection, job)
        await _queued(connection, job)
    except ServerAwayError:
        return folder, state
    except FleetError as error:
        await _given_up(connection, folder, job, str(error))
        raise
    return folder, state


async def _reserved(connection: Connection, job: Job) -> None:
    if job.budget is not None and not await Budgets(connection).reserve(
        job.budget, job.id, job.options.max_cost or 0.0
    ):
        raise NoMoneyError(f"the budget {job.budget!r} has not enough left for this run")


async def _given_up(connection: Connection, folder: RunFolder, job: Job, reason: str) -> None:
    """Settle a run that is certain not to be queued, and free its reservation."""
    unpaid = Settlement(status="not_started", sentence=reason, spent_usd=0.0)
    with suppress(ServerAwayError):
        await settle(connection, job, unpaid)
        folder.write_verdict(judge_refused(reason))


async def _recorded(connection: Connection, home: Path, job: Job) -> Job:
    for name in [job.run] if job.attempt > 1 else _free_names(home):
        named = replace(job, run=name)
        subject = subjects.run(name, named.attempt)
        try:
            await connection.publish(subject, dump(named.public), expected=0)
        except ConflictError:
            if job.attempt > 1:
                raise FleetError(f"attempt {job.attempt} of {name} was asked for before") from None
            continue
        return named
    raise AssertionError("there is always another name")


def _free_names(home: Path) -> Iterator[str]:
    """Names that no run here has."""
    return (name for name in new_names() if not (home / RUNS / name).exists())


async def _queued(connection: Connection, job: Job) -> None:
    """Queue a job; sent again within the server's window, it is stored once."""
    subject = subjects.job(job.label, job.agent, job.run, job.attempt)
    for left in reversed(range(_TRIES)):
        try:
            await connection.publish(subject, dump(job), id=f"job/{job.id}")
            return
        except ServerAwayError:
            if not left:
                raise
            await asyncio.sleep(_RETRY_S)
