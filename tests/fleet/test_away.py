"""The server is away for long: agents are stopped in time or go on, and the disk is bounded."""

import asyncio
import time
from pathlib import Path

import pytest

from nightrook.config.options import RunOptions
from nightrook.fleet import ship_run
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.connection import Address
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.ship_run import shipped
from nightrook.runs.start import start
from nightrook.store.run_folder import RunFolder
from tests.fleet.fleets import install, job, on_fleet, plan, working
from tests.fleet.test_processes import heard

HOUR_S = 3600.0
MOST = 100_000
FLOOD = f"flood={3 * MOST}"


def recorded(folder: Path) -> int:
    """How many bytes of output a run folder has."""
    return sum((folder / name).stat().st_size for name in ("stdout.raw", "stderr.raw"))


def test_after_an_hour_without_its_server_a_worker_has_stopped_its_agent_and_sends_all_of_it(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, f"{FLOOD} hang-in-tool", monkeypatch)

    async def work(fleet: Fleet) -> tuple[str, str | None, Path]:
        made = plan(tmp_path, rights={"max_log_size": MOST})
        async with working(server, made) as worker, FleetRun(fleet, job()) as run:
            await heard(run)
            server.kill()
            monkeypatch.setattr(worker.lease, "_now", lambda: time.monotonic() + HOUR_S)
            (there,) = (tmp_path / "w1" / "runs").iterdir()
            while not (there / "verdict.json").exists():
                await asyncio.sleep(0.02)
            assert run.replicator.settlement is None  # what cannot be heard of is not lost
            await asyncio.to_thread(server.start)
            verdict = await run.wait()
            assert 0 < recorded(there) <= MOST
            assert (run.folder.path / "stdout.raw").read_bytes() == (
                there / "stdout.raw"
            ).read_bytes()
        return verdict.status, verdict.facts.person.stopped_by, there

    status, by, _ = on_fleet(server, tmp_path / "home", work)
    assert (status, by) == ("interrupted", "lost contact")


@pytest.mark.parametrize("is_away_first", [True, False])
def test_a_run_that_is_only_shipped_continues_to_its_end_without_the_server(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_away_first: bool
) -> None:
    install(tmp_path, f"{FLOOD} silent=0.3 say=fine", monkeypatch)
    monkeypatch.setattr(ship_run, "_FINISH_S", 0.1)
    address, said = Address(url=server.url), list[str]()
    if is_away_first:
        server.kill()

    async def work() -> RunFolder:
        options = RunOptions(
            prompt="Fix it", cwd=str(tmp_path), home=str(tmp_path / "home"), max_log_size=MOST
        )
        run = start(options)
        async with run, shipped(run, address, said.append):
            while not run.feed.state.heard:
                await run.feed.more(run.feed.count)
            if not is_away_first:
                server.kill()
            await run.wait()
        return run.folder

    folder = asyncio.run(work())
    ended = folder.exit()
    assert ended is not None
    assert (ended.exit_code, ended.stopped_for, ended.log_limit) == (0, None, MOST)
    assert 0 < recorded(folder.path) <= MOST
    assert len(said) == 1
    assert said[0].startswith(f"run {folder.name} was not ")
