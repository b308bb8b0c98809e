"""A boss that replaces another one continues its wait, by what the server has stored."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from nightrook.fleet import subjects
from nightrook.fleet.boss import liveness, replicator
from nightrook.fleet.boss.fleet_run import Fleet
from nightrook.fleet.boss.folders import FleetState
from nightrook.fleet.boss.replicator import Replicator
from nightrook.fleet.boss.submit import submit
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.worker.worker import QueuePull
from nightrook.store.run_folder import RunFolder
from tests.fleet.fleets import job, on_fleet
from tests.fleet.puppet import puppet

LIMIT_S = 4.0
LISTEN_S = 0.3
MOST_BOSSES = 12


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicator, "UNCLAIMED_S", LIMIT_S)
    monkeypatch.setattr(liveness, "SILENT_S", LISTEN_S)


async def followed(fleet: Fleet, folder: RunFolder, state: FleetState) -> str:
    """Follow a run with bosses of which none waits long enough by itself."""
    for _ in range(MOST_BOSSES):
        async with Replicator(fleet.connection, folder, state, fleet.beats) as following:
            waiting = asyncio.create_task(following.wait())
            while following.silence.seconds < LIMIT_S / 2 and not waiting.done():
                await asyncio.sleep(0.05)
            with suppress(TimeoutError):
                async with asyncio.timeout(0):
                    return (await waiting).sentence
            waiting.cancel()
    return "not settled"


def test_a_job_that_was_passed_on_and_never_claimed_is_lost(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> str:
        folder, state = await submit(fleet.connection, fleet.home, job())
        pull = QueuePull(fleet.connection)
        assert await pull.take(subjects.job_consumer("any", "claude")) is not None
        return await followed(fleet, folder, state)

    sentence = on_fleet(server, tmp_path / "home", work)
    assert sentence.startswith("the worker that took it was not heard of any more")


def test_a_run_whose_worker_is_silent_is_lost(server: LocalServer, tmp_path: Path) -> None:
    async def work(fleet: Fleet) -> str:
        folder, state = await submit(fleet.connection, fleet.home, job(lease_s=LIMIT_S))
        async with puppet(server) as worker:
            await worker.take()
        return await followed(fleet, folder, state)

    sentence = on_fleet(server, tmp_path / "home", work)
    assert sentence.startswith("worker w1 was not heard of any more")
