"""Workers and a boss in one process, with the scripted agent: what most tests of the fleet need."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nightrook.config.options import RunOptions
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun, opened_fleet
from nightrook.fleet.boss.submit import job_of
from nightrook.fleet.connection import Address, connect
from nightrook.fleet.messages import Job
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.worker.rights import WorkerRights
from nightrook.fleet.worker.worker import Worker, WorkerPlan
from nightrook.testing import install_agent

Result = TypeVar("Result")


def install(folder: Path, flags: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the scripted agent on PATH, for workers in this process."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    install_agent(programs)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("ROOK_SCRIPT", flags)


def plan(home: Path, name: str = "w1", **options: Any) -> WorkerPlan:
    rights = WorkerRights(agents=("claude",), **options.pop("rights", {}))
    return WorkerPlan(name=name, home=home / name, rights=rights, **options)


@asynccontextmanager
async def working(server: LocalServer, made: WorkerPlan) -> AsyncIterator[Worker]:
    """A worker while the block lasts; it is drained at the end."""
    connection = await connect(Address(url=server.url, user=made.name))
    worker = Worker(connection, made)
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.drain()
        await running
        await connection.close()


def job(prompt: str = "Fix the tests", **options: Any) -> Job:
    lease_s = options.pop("lease_s", 15.0)
    return job_of(RunOptions(prompt=prompt, **options), lease_s=lease_s)


def on_fleet(server: LocalServer, home: Path, work: Callable[[Fleet], Awaitable[Result]]) -> Result:
    """Call `work` with the boss of a fleet."""

    async def whole() -> Result:
        async with opened_fleet(Address(url=server.url), home) as fleet:
            return await work(fleet)

    return asyncio.run(whole())


async def finished(fleet: Fleet, made: Job) -> FleetRun:
    """Run a job to its end."""
    run = FleetRun(fleet, made)
    async with run:
        await run.wait()
    return run
