"""What a fleet must cope with: lost, repeated and forged messages, clocks and versions apart."""

import asyncio
import os
import random
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from nightrook.fleet import subjects
from nightrook.fleet.boss import replicator
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun, opened_fleet
from nightrook.fleet.boss.folders import merged_info
from nightrook.fleet.connection import Address, ServerAwayError, connect
from nightrook.fleet.messages import Claimed, Ended, dump
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.worker.worker import Worker
from nightrook.model.verdict import Verdict
from nightrook.runs.listing import listed
from nightrook.store.list import NewestFirst
from nightrook.store.run_formats import RunInfo
from tests.fleet.fleets import finished, install, job, on_fleet, plan, working
from tests.fleet.puppet import TRUTH, Puppet, claimed, puppet

HOUR_S = 3600.0


def test_a_boss_without_a_server_says_so_and_leaves_no_run(tmp_path: Path) -> None:
    with LocalServer(tmp_path / "nats") as server:
        url = server.url

    async def work() -> None:
        async with opened_fleet(Address(url=url), tmp_path / "home"):
            raise AssertionError

    with pytest.raises(ServerAwayError, match="cannot be reached"):
        asyncio.run(work())
    assert not (tmp_path / "home" / "runs").exists()


def test_a_worker_that_starts_before_its_server_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    server = LocalServer(tmp_path / "nats")
    server.start()
    server.stop()

    async def work() -> Verdict:
        address = Address(url=server.url, user="w1")
        waiting = asyncio.create_task(connect(address, patience_s=None))
        await asyncio.to_thread(server.start)
        worker = Worker(connection := await waiting, plan(tmp_path))
        working = asyncio.create_task(worker.run())
        async with opened_fleet(Address(url=server.url), tmp_path / "home") as fleet:
            run = await finished(fleet, job())
        worker.drain()
        await working
        await connection.close()
        return await run.wait()

    try:
        assert asyncio.run(work()).status == "success"
    finally:
        server.stop()


def test_a_server_that_is_killed_in_the_middle_costs_nothing(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=one hang-in-tool", monkeypatch)

    async def work(fleet: Fleet) -> None:
        async with working(server, plan(tmp_path)), FleetRun(fleet, job(lease_s=60.0)) as run:
            while not run.state.heard:
                await run.attached.read_now()
                await asyncio.sleep(0.02)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            run.stop(by="rook stop")
            verdict = await run.wait()
            assert verdict.facts.person.stopped_by == "rook stop"
            (there,) = (tmp_path / "w1" / "runs").iterdir()
            for name in ("stdout.raw", "arrivals"):
                assert (run.folder.path / name).read_bytes() == (there / name).read_bytes()

    on_fleet(server, tmp_path / "home", work)


def test_chunks_in_any_order_twice_and_overlapping_make_the_same_bytes(
    server: LocalServer, tmp_path: Path
) -> None:
    chance = random.Random("chunks")
    cuts = sorted({0, len(TRUTH), *(chance.randrange(len(TRUTH)) for _ in range(12))})
    pieces = [(at, TRUTH[at : end + 300]) for at, end in pairwise(cuts)]
    pieces += pieces[3:6]
    chance.shuffle(pieces)

    async def work(fleet: Fleet) -> None:
        async with claimed(fleet, server) as (run, worker):
            for offset, data in pieces:
                await worker.chunk(offset, data)
            await worker.end()
            verdict = await run.wait()
            assert (verdict.status, verdict.facts.recorder.tampered) == ("success", None)
            assert (run.folder.path / "stdout.raw").read_bytes() == TRUTH

    on_fleet(server, tmp_path / "home", work)


def test_a_chunk_that_was_lost_is_asked_for_again(server: LocalServer, tmp_path: Path) -> None:
    async def work(fleet: Fleet) -> None:
        async with claimed(fleet, server) as (run, worker):
            asked = asyncio.create_task(worker.asked_again())
            await worker.chunk(0, TRUTH[:500])
            await worker.chunk(900, TRUTH[900:])
            await worker.end()
            order = await asked
            assert order.positions == {"stdout": 500}
            await worker.chunk(500, TRUTH[500:])
            assert (await run.wait()).status == "success"
            assert (run.folder.path / "stdout.raw").read_bytes() == TRUTH

    on_fleet(server, tmp_path / "home", work)


def test_bytes_that_never_come_make_the_run_incomplete(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicator, "_GIVE_UP_S", 0.5)

    async def work(fleet: Fleet) -> Verdict:
        async with claimed(fleet, server) as (run, worker):
            await worker.chunk(0, TRUTH[:500])
            await worker.end()
            return await run.wait()

    verdict = on_fleet(server, tmp_path / "home", work)
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)


def test_other_bytes_for_a_position_are_reported_and_change_nothing(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> None:
        async with claimed(fleet, server) as (run, worker):
            await worker.chunk(0, TRUTH)
            await worker.chunk(100, b"forged")
            await worker.end()
            verdict = await run.wait()
            assert verdict.status == "incomplete"
            assert "other bytes" in (verdict.facts.recorder.tampered or "")
            assert (run.folder.path / "stdout.raw").read_bytes() == TRUTH

    on_fleet(server, tmp_path / "home", work)


async def nonsense(worker: Puppet) -> None:
    """Everything that is not a message, under every name that a message can have."""
    for what in ("claimed", "ended", "started", "stdout", "questions", "bundle", "unheard-of"):
        for data in (b"", b"\xff\xfe", b"{}", b'{"format":99}', b"[" * 5000, os.urandom(300)):
            await worker.send(what, data)
    for offset in ("-1", "x", "", "9" * 40, "1e3", "٣", "99999999999"):
        await worker.send("stdout", b"forged", Rook_Offset=offset)


def test_a_worker_that_writes_nonsense_spoils_its_own_run_only(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicator, "_GIVE_UP_S", 0.5)

    async def work(fleet: Fleet) -> None:
        async with (
            claimed(fleet, server) as (honest, first),
            claimed(fleet, server, "w2") as (run, second),
        ):
            await nonsense(second)
            await second.end(sentence="\x1b[2Jforged", spent_usd=1e300)
            await first.chunk(0, TRUTH)
            await first.end()
            assert (await honest.wait()).status == "success"
            assert (await run.wait()).status == "incomplete"
            home = tmp_path / "home"
            assert {path.name for path in (home / "runs").iterdir()} == {honest.name, run.name}
            assert len([listed(each) for each in NewestFirst(home)]) == 2

    on_fleet(server, tmp_path / "home", work)


def test_a_worker_that_was_not_given_a_run_cannot_touch_it(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> None:
        async with claimed(fleet, server) as (run, worker), puppet(server, "w2") as stranger:
            stranger.job = msgspec.structs.replace(worker.taken, claim="0" * 32)
            await stranger.send("claimed", dump(Claimed(claim="0" * 32, instance="i")))
            await stranger.chunk(0, b"forged\n")
            await nonsense(stranger)
            await stranger.end()
            await stranger.send("ended", dump(Ended(end="refused", reason="forged")))
            await worker.chunk(0, TRUTH)
            await worker.end()
            verdict = await run.wait()
            assert (verdict.status, verdict.facts.recorder.tampered) == ("success", None)
            assert (run.folder.path / "stdout.raw").read_bytes() == TRUTH

    on_fleet(server, tmp_path / "home", work)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_worker_whose_clock_is_an_hour_apart_is_not_lost(
    server: LocalServer, tmp_path: Path, hours: int
) -> None:
    async def work(fleet: Fleet) -> None:
        async with claimed(fleet, server) as (run, worker):
            at = run.job.submitted_at + hours * HOUR_S
            await worker.chunk(0, TRUTH)
            await worker.chunk(0, b"stdout 0 %d\n" % int(at * 1e6), "arrivals")
            await worker.end(clock=at)
            assert (await run.wait()).status == "success"
            (only,) = NewestFirst(tmp_path / "home")
            assert listed(only).name == run.name

    on_fleet(server, tmp_path / "home", work)


def test_messages_of_a_later_version_with_more_fields_are_understood(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> None:
        async with puppet(server) as worker, FleetRun(fleet, job()) as run:
            await worker.take()
            more = {"claim": worker.taken.claim, "instance": "i", "version": "99", "new": [1]}
            await worker.send("claimed", msgspec.json.encode(more))
            beat = {"instance": "i", "version": "99", "running": [], "new": {"a": 1}}
            await worker.connection.publish(subjects.beat("w1"), msgspec.json.encode(beat))
            await worker.chunk(0, TRUTH)
            await worker.end()
            assert (await run.wait()).status == "success"
            assert fleet.beats.workers["w1"].beat.version == "99"

    on_fleet(server, tmp_path / "home", work)


def test_a_job_of_a_newer_format_ends_with_the_reason(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)

    async def work(fleet: Fleet) -> Verdict:
        async with working(server, plan(tmp_path)):
            run = await finished(fleet, msgspec.structs.replace(job(), format=99))
            return await run.wait()

    verdict = on_fleet(server, tmp_path / "home", work)
    assert verdict.status == "not_started"
    assert "w1: it was written by a newer version of rook: update rook here" in verdict.sentence


def test_the_program_of_a_run_is_never_what_its_worker_says() -> None:
    here = RunInfo(command=["claude"], cwd="/", started_at=1.0, agent="claude")
    there = RunInfo(command=["claude"], cwd="/w", started_at=2.0, program=["sh", "-c", "evil"])
    assert merged_info(here, there, worker="w1").program is None
