"""Runs of a fleet on the command line: starts, shows, attaches to and stops them."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from nightrook.cli.end_actions import EndActions
from nightrook.cli.terminal.attached_run import show_attached
from nightrook.cli.terminal.ending import print_end, print_result
from nightrook.cli.terminal.interrupts import on_interrupts
from nightrook.cli.terminal.output import say
from nightrook.config.options import RemoteOptions, RunOptions, ViewOptions
from nightrook.display.reports.report import Report
from nightrook.display.screen import Echo
from nightrook.fleet.accounts.credentials import chosen_fleet
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun, opened_fleet
from nightrook.fleet.boss.folders import folder_from_server, read_state
from nightrook.fleet.boss.replicator import Replicator
from nightrook.fleet.boss.repositories import Repositories
from nightrook.fleet.boss.submit import job_of
from nightrook.fleet.claims import LEASE_S
from nightrook.fleet.connection import FleetError
from nightrook.fleet.messages import Job
from nightrook.model.text import suggested
from nightrook.process.background import in_background
from nightrook.runs.attached import AttachedRun
from nightrook.store.file_names import RESULT_BUNDLE, RESULT_FILES
from nightrook.store.home import home_folder
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo

Result = TypeVar("Result")

_STOP_S = 10.0
_FLEET = "fleet"


def label_of(on: str) -> str | None:
    """The label in `fleet:LABEL`; None in `fleet`."""
    where, _, label = on.partition(":")
    if where != _FLEET:
        raise FleetError(f"--on takes {_FLEET} or {_FLEET}:LABEL, not {on!r}")
    return label or None


def job_for(options: RunOptions, remote: RemoteOptions) -> Job:
    """The job that asks a fleet for a run."""
    if options.called is not None or options.program is not None:
        raise FleetError("a fleet runs the agents of its machines, not a command of your settings")
    label = label_of(remote.on or _FLEET)
    return job_of(options, label=label, lease_s=remote.lease or LEASE_S)


def run_on_fleet(
    options: RunOptions, remote: RemoteOptions, view_options: ViewOptions, ends: EndActions
) -> int:
    """Run on a fleet, show it here as if it ran here, and return the exit code."""
    job = job_for(options, remote)
    repo = _folder_to_send(options, remote)
    run, verdict = asyncio.run(_watched(job, remote, view_options, repo))
    ends.finish(lambda: _report(run))
    return verdict.exit_code


def detach_on_fleet(options: RunOptions, remote: RemoteOptions, *, quiet: bool) -> int:
    """Ask for a run on a fleet, and follow it from the background."""
    job = job_for(options, remote)
    repo = _folder_to_send(options, remote)

    def work(report: Callable[[str], None]) -> None:
        asyncio.run(_followed(job, remote, report, repo))

    name = in_background(work, str)
    sys.stdout.write(f"{name}\n")
    if not quiet:
        say(f"it runs on your fleet: {suggested('attach', name)} · {suggested('stop', name)}")
    return 0


def _folder_to_send(options: RunOptions, remote: RemoteOptions) -> str | None:
    """The folder whose repository is sent along; None if none is."""
    if remote.files and not remote.repo:
        raise FleetError("--files brings back files of a repository: it needs --repo")
    return os.path.abspath(options.cwd) if remote.repo else None


def say_results(run: FleetRun) -> None:
    """Print which parts of the repository of a run came back, and which did not."""
    if run.note is not None:
        say(f"run {run.name}: {run.note}")
    if (run.folder.path / RESULT_BUNDLE).exists():
        say(f"what it changed: {suggested('diff', run.name)} · {suggested('apply', run.name)}")
    if (run.folder.path / RESULT_FILES).exists():
        say(f"files outside of git: {suggested('apply', run.name, '--files')}")


async def _followed(
    job: Job, remote: RemoteOptions, report: Callable[[str], None], repo: str | None
) -> None:
    async with connect_to_fleet(remote.credentials) as fleet:
        async for run in _attempts(fleet, job, remote, repo):
            report(run.name)
            await run.wait()


async def _watched(
    job: Job, remote: RemoteOptions, view_options: ViewOptions, repo: str | None
) -> tuple[FleetRun, VerdictInfo]:
    async with connect_to_fleet(remote.credentials) as fleet:
        echo = Echo(sys.stdout)
        async for run in _attempts(fleet, job, remote, repo):
            current = run
            on_interrupts(lambda number, run=run: run.stop(by=number.name), echo)  # type: ignore[misc]
            if not view_options.quiet:
                say(f"run {run.name} waits for a machine of the fleet")
            verdict, texts = await show_attached(run.attached, view_options, from_now=False)
            await run.replicator.wait()
            print_result(sys.stdout, view_options, run.attached.story, texts)
            print_end(view_options, run.attached.story)
            say_results(run)
    return current, verdict


async def _attempts(
    fleet: Fleet, job: Job, remote: RemoteOptions, repo: str | None
) -> AsyncIterator[FleetRun]:
    """Yield each attempt of a job while it lasts: more than one if it was returned, or lost."""
    await fleet.hold(job.agent, say)
    retries, send = remote.retry_lost or 0, None
    if repo is not None:
        send = Repositories(fleet.connection, fleet.beats, files=remote.files, say=say).of(repo)
    run = FleetRun(fleet, job, send=send)
    while True:
        async with run:
            yield run
            settlement = await run.replicator.wait()
        if settlement.status == "lost" and retries > 0:
            retries -= 1
            say(f"run {run.name} was lost: trying again")
        elif not run.replicator.was_returned:
            return
        run = run.again()


@asynccontextmanager
async def connect_to_fleet(credentials: str | None) -> AsyncIterator[Fleet]:
    """Connect to a fleet while the block lasts: that of the credentials, or of the settings."""
    address, _ = chosen_fleet(credentials)
    async with opened_fleet(address, home_folder()) as fleet:
        yield fleet


@asynccontextmanager
async def following(folder: RunFolder) -> AsyncIterator[Replicator]:
    """Follow a run of a fleet while the block lasts, unless another process does."""
    state = read_state(folder)
    if state is None:
        raise FleetError(f"run {folder.name!r} does not say on which fleet it runs")
    async with (
        connect_to_fleet(None) as fleet,
        Replicator(fleet.connection, folder, state, fleet.beats) as replicator,
    ):
        yield replicator


async def kept_up(attached: AttachedRun, work: Awaitable[Result], *, stop: bool) -> Result:
    """Do something with a fleet's run while its folder is kept up to date."""
    folder = attached.folder
    async with following(folder) as replicator:
        replicator.wakes(attached)
        if stop:
            replicator.stop(by="rook stop")
        if (verdict := folder.verdict()) is not None and verdict.status == "lost":
            await replicator.catch_up()  # its worker may have come back
        return await work


def stop_on_fleet(folder: RunFolder) -> bool:
    """Stop a run of a fleet; False if it has not ended within a few seconds."""

    async def work() -> bool:
        async with following(folder) as replicator:
            replicator.stop(by="rook stop")
            try:
                async with asyncio.timeout(_STOP_S):
                    await replicator.wait()
            except TimeoutError:
                return False
            return True

    return asyncio.run(work())


def adopted(name: str) -> RunFolder:
    """Return the folder of a run of the user's fleet that another process started."""

    async def work() -> RunFolder:
        async with connect_to_fleet(None) as fleet:
            return await folder_from_server(fleet.connection, fleet.home, name)

    return asyncio.run(work())


def _report(run: FleetRun) -> Report:
    from nightrook.cli.reports import report_of_run  # rarely needed, and it imports a lot

    return report_of_run(run.attached.story)
