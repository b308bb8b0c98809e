"""The local folder of a fleet's run: made from its job, with the progress of copying."""

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nightrook import agents
from nightrook.config.options import PortableOptions
from nightrook.fleet import subjects
from nightrook.fleet.connection import Connection, FleetError, shown_url
from nightrook.fleet.messages import Claimed, Job, load
from nightrook.model.errors import NightrookError, RunFolderError, UnknownRunError
from nightrook.store.file_names import FLEET
from nightrook.store.list import find_run
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo

_NO_CLAIM = hashlib.sha256(b"").hexdigest()  # of a run that no boss asked for
_RUNS_OF_FLEET = "the runs of the fleet"
_NO_LEASE_S = 1e8  # it does not beat: only its end ends it


class FleetState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run of a fleet, and how far it has been copied: `fleet.json`."""

    format: int = 1
    server: str
    job: Job
    worker: str | None = None
    """The worker that claimed it; None while it waits."""

    instance: str | None = None
    seq: int = 0
    """The number of the last message of the server that needs not be read again."""

    problem: str | None = None
    """The first thing from its worker that was refused: the copy here is not all that it sent."""

    stranger: str | None = None
    """The first thing that another worker sent about it, which was not believed."""

    note: str | None = None
    """A note on the parts of its repository that did not come back."""


def folder_name(job: Job) -> str:
    """The name of the folder: that of the run, with the number of a later attempt."""
    return job.run if job.attempt == 1 else f"{job.run}.{job.attempt}"


def make_folder(home: Path, state: FleetState) -> RunFolder:
    """Make the folder of a run that runs elsewhere; the one that is there, if there is one."""
    job = state.job
    with suppress(NightrookError):
        there = find_run(home, folder_name(job))
        if there.name == folder_name(job):
            return there
    info = RunInfo(
        name=folder_name(job),
        agent=job.agent if agents.is_known(job.agent) else None,
        via=job.options.via,
        command=[job.agent],
        cwd="/",
        prompt=job.options.prompt or "",
        model=job.options.model,
        permission=job.permission,
        allow_denials=job.options.allow_denials,
        started_at=job.submitted_at,
        loop=job.part_of[0] if job.part_of else None,
        iteration=job.part_of[1] if job.part_of else None,
        fleet=shown_url(state.server),
    )
    folder = create_run(home, info)
    write_state(folder, state)
    return folder


def read_state(folder: RunFolder) -> FleetState | None:
    """Read the state of a run of a fleet; None if it runs here."""
    with folder.opened() as files:
        data = files.read(FLEET)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=FleetState)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(str(folder.path / FLEET), "has unexpected contents") from error


def write_state(folder: RunFolder, state: FleetState) -> None:
    """Save where a run is, in one step."""
    with folder.opened() as files:
        files.replace(FLEET, msgspec.json.encode(state))


def merged_info(here: RunInfo, there: RunInfo | None, *, worker: str | None) -> RunInfo:
    """Merge the record of a run here with that of its worker.

    Its processes are those of another machine, and its name and its batch are ours. The program is
    never the worker's: it would be run here if the run is resumed.
    """
    if there is None:
        return replace(here, machine=worker)
    return replace(
        here,
        machine=worker,
        agent=there.agent if there.agent in (None, here.agent) else here.agent,
        via=there.via,
        command=there.command,
        argv=there.argv,
        cwd=there.cwd,
        model=there.model or here.model,
        permission=there.permission,
        started_at=there.started_at,
        nightrook_version=there.nightrook_version,
    )


async def folder_from_server(connection: Connection, home: Path, name: str) -> RunFolder:
    """Make the folder of a run by its whole name; an UnknownRunError if the fleet has none."""
    run, _, attempt = name.partition(".")
    number = int(attempt) if attempt.isdecimal() else 1
    try:
        token = subjects.token(run)
    except subjects.BadNameError:
        raise UnknownRunError(name, []) from None
    job = await _asked_for(connection, token, number) or await _shipped(connection, token)
    if job is None:
        raise UnknownRunError(name, [])
    state = FleetState(server=connection.address.url, job=job)
    return make_folder(home, state)


async def _asked_for(connection: Connection, run: str, attempt: int) -> Job | None:
    subject = subjects.run(run, attempt)
    found = await connection.last_message(subjects.RUNS, subject, what=_RUNS_OF_FLEET)
    return None if found is None else load(found.data or b"", Job)


async def _shipped(connection: Connection, run: str) -> Job | None:
    subject = subjects.claims_of(run)
    found = await connection.last_message(subjects.EV, subject, what=_RUNS_OF_FLEET)
    if found is None:
        return None
    event = subjects.read_event(found.subject or "")
    claimed: Claimed = load(found.data or b"", Claimed)
    if event is None or claimed.claim or not claimed.info:
        raise FleetError(f"{run} was not asked for by this fleet: its worker says so, but lies")
    return Job(
        run=run,
        claim_sha256=_NO_CLAIM,
        label=subjects.ANY,
        lease_s=_NO_LEASE_S,
        options=PortableOptions(
            agent=claimed.info.agent or "unknown",
            prompt=claimed.info.prompt or "",
            permission="agent",
            max_log_size=None,
        ),
        submitted_at=claimed.info.started_at,
    )
