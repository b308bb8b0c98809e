"""Jobs for an agent whose quota a worker reports as used up wait until it resets."""

import asyncio
import time
from pathlib import Path

import pytest

from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.boss.heartbeats import BeatWatch
from nightrook.fleet.messages import Beat
from nightrook.fleet.nats_server import LocalServer
from tests.fleet.fleets import finished, install, job, on_fleet, plan, working


def test_a_job_is_asked_for_when_the_quota_has_reset(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "limit=4", monkeypatch)

    async def work(fleet: Fleet) -> tuple[float, float, list[str]]:
        said: list[str] = []
        async with working(server, plan(tmp_path)):
            await finished(fleet, job())
            while not (limits := fleet.beats.limited_agents):
                await asyncio.sleep(0.02)
            holding = asyncio.create_task(fleet.hold("claude", said.append))
            async with FleetRun(fleet, job()) as second:
                await second.replicator.wait()
            await holding
            return limits["claude"], second.job.submitted_at, said

    resets_at, submitted_at, said = on_fleet(server, tmp_path / "home", work)
    assert submitted_at >= resets_at
    assert [line.rpartition(" for ")[0] for line in said] == [
        "the quota of claude is used up: its jobs wait"
    ]


def test_the_latest_reset_that_any_worker_reports_counts_for_its_agent_alone(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> tuple[dict[str, float], bool]:
        now = time.time()
        watch = BeatWatch(fleet.connection)
        watch.take("a", Beat(instance="i", limits={"claude": now + 60}))
        watch.take("b", Beat(instance="j", limits={"claude": now + 90, "codex": now - 1}))
        held = Fleet(fleet.connection, watch, fleet.home)
        await held.hold("codex")  # its quota has reset
        await held.hold("gemini")
        waiting = asyncio.create_task(held.hold("claude"))
        await asyncio.sleep(0)
        is_held = not waiting.done()
        waiting.cancel()
        found = watch.limited_agents
        return {agent: round(at - now) for agent, at in found.items()}, is_held

    assert on_fleet(server, tmp_path / "home", work) == ({"claude": 90, "codex": -1}, True)
