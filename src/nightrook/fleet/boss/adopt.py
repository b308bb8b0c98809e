"""Makes the folder of a run that another boss asked for, or that a machine ships by itself."""

import hashlib

import nats.errors
from nats.js import errors as js_errors

from nightrook.fleet import subjects
from nightrook.fleet.boss.fleet_run import Fleet
from nightrook.fleet.boss.folders import FleetState, make_folder
from nightrook.fleet.connection import FleetError, ServerAwayError
from nightrook.fleet.messages import Claimed, Job, load
from nightrook.model.errors import UnknownRunError
from nightrook.store.run_folder import RunFolder

_NO_CLAIM = hashlib.sha256(b"").hexdigest()  # of a run that no boss asked for
_NO_LEASE_S = 1e8  # it does not beat: only its end ends it


async def adopt(fleet: Fleet, name: str) -> RunFolder:
    """Make the folder of a run by its whole name; an UnknownRunError if the fleet has none."""
    run, _, attempt = name.partition(".")
    number = int(attempt) if attempt.isdecimal() else 1
    try:
        token = subjects.token(run)
    except subjects.BadNameError:
        raise UnknownRunError(name, []) from None
    job = await _asked_for(fleet, token, number) or await _shipped(fleet, token)
    if job is None:
        raise UnknownRunError(name, [])
    state = FleetState(server=fleet.connection.address.url, job=job)
    return make_folder(fleet.home, state)


async def _asked_for(fleet: Fleet, run: str, attempt: int) -> Job | None:
    data = await _last(fleet, subjects.RUNS, subjects.run(run, attempt))
    return None if data is None else load(data[1], Job)


async def _shipped(fleet: Fleet, run: str) -> Job | None:
    found = await _last(fleet, subjects.EV, subjects.claims_of(run))
    if found is None:
        return None
    subject, data = found
    event = subjects.read_event(subject)
    claimed: Claimed = load(data, Claimed)
    if event is None or claimed.claim or not claimed.info:
        raise FleetError(f"{run} was not asked for by this fleet: its worker says so, but lies")
    return Job(
        run=run,
        claim_sha256=_NO_CLAIM,
        label=subjects.ANY,
        lease_s=_NO_LEASE_S,
        agent=claimed.info.agent or "unknown",
        prompt=claimed.info.prompt or "",
        submitted_at=claimed.info.started_at,
    )


async def _last(fleet: Fleet, stream: str, subject: str) -> tuple[str, bytes] | None:
    try:
        message = await fleet.connection.streams.get_last_msg(stream, subject)
    except js_errors.NotFoundError:
        return None
    except (nats.errors.Error, TimeoutError) as error:
        raise ServerAwayError("the runs of the fleet cannot be read now") from error
    return message.subject or "", message.data or b""
