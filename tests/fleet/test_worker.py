"""A worker and a boss: jobs are claimed, run, shipped and settled once."""

import asyncio
import time
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from nightrook.config.options import LIMIT_OPTIONS
from nightrook.fleet import messages, subjects
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.claims import Lease
from nightrook.fleet.connection import FleetError
from nightrook.fleet.messages import DrainOrder, Ended, Job, ResendOrder, dump, load
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.streams import make_queue
from nightrook.fleet.worker import job_run, worker
from nightrook.fleet.worker.heartbeat import NameTakenError
from nightrook.fleet.worker.job_run import JobRun
from nightrook.fleet.worker.journal import Entry
from nightrook.fleet.worker.worker import Worker
from nightrook.model.limits import UNLIMITED, Amounts, LimitKind
from nightrook.story import follow
from tests.fleet.fleets import finished, install, job, on_fleet, plan, working


def test_a_job_is_run_and_its_folder_is_here(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)

    async def work(fleet: Fleet) -> None:
        async with working(server, plan(tmp_path)):
            run = await finished(fleet, job())
            verdict = run.folder.verdict()
            assert verdict is not None
            assert (verdict.status, verdict.exit_code) == ("success", 0)
            there = next((tmp_path / "w1" / "runs").iterdir())
            for name in ("stdout.raw", "arrivals", "output.md"):
                assert (run.folder.path / name).read_bytes() == (there / name).read_bytes()
            info = run.folder.info()
            assert info is not None
            assert (info.machine, info.prompt) == ("w1", "Fix the tests")

    on_fleet(server, tmp_path / "home", work)


def test_a_worker_refuses_what_its_configuration_does_not_allow(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    asked = {
        "this worker does not grant --permission all": job(permission="all"),
        "this worker passes no arguments or rules of a job to the agent": job(args=("--x",)),
    }

    async def work(fleet: Fleet) -> dict[str, tuple[str, float | None]]:
        async with working(server, plan(tmp_path, jobs=2)):
            ended = [await finished(fleet, each) for each in asked.values()]
        verdicts = [run.folder.verdict() for run in ended]
        return {each.sentence: (each.status, each.spent_usd) for each in verdicts if each}

    found = on_fleet(server, tmp_path / "home", work)
    assert found == dict.fromkeys(asked, ("not_started", 0.0))
    assert not (tmp_path / "w1" / "runs").exists()


KINDS = get_args(LimitKind)


def limit(kind: str, most: float) -> Amounts:
    return replace(UNLIMITED, **{kind: most})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("asked", "allowed", "lower"), [(5, 2, 2), (2, 5, 2), (None, 2, 2), (5, None, 5)]
)
def test_each_limit_reaches_the_job_and_the_lower_one_counts_on_its_worker(
    tmp_path: Path, kind: str, asked: float | None, allowed: float | None, lower: float
) -> None:
    options: dict[str, Any] = {} if asked is None else {getattr(LIMIT_OPTIONS, kind): asked}
    rights = {} if allowed is None else {"limits": limit(kind, allowed)}
    sent: Job = load(dump(job(**options)), Job)
    run = plan(tmp_path, rights=rights).rights.options(sent, cwd="/", home="/")
    assert run.limits == limit(kind, lower)


@pytest.mark.parametrize("kind", KINDS)
def test_each_limit_ends_a_run_on_its_worker(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    install(tmp_path, "play=budget no-result hang-after-result", monkeypatch)
    most = {"time": 1.0, "cost": 0.01, "tokens": 1, "turns": 1}
    rights = {"limits": limit(kind, most[kind])}

    async def work(fleet: Fleet) -> str | None:
        async with working(server, plan(tmp_path, rights=rights)):
            run = await finished(fleet, job())
        verdict = run.folder.verdict()
        assert verdict is not None
        passed = verdict.verdict.facts.person.passed_limit
        return passed.kind if passed else None

    assert on_fleet(server, tmp_path / "home", work) == kind


def test_what_works_only_here_does_not_reach_a_worker(tmp_path: Path) -> None:
    for option in ({"env": {"A": "1"}}, {"worktree": True}, {"resume": "r"}, {"stream": False}):
        with pytest.raises(FleetError):
            job(**option)


def test_a_boss_is_shown_what_it_writes_itself_without_looking_for_it(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    monkeypatch.setattr(follow, "_LOOK_S", 3600.0)

    async def work(fleet: Fleet) -> tuple[str, int, bool]:
        async with working(server, plan(tmp_path)), FleetRun(fleet, job()) as run:
            verdict = await run.wait()
            return verdict.status, run.state.records, run.attached.is_complete

    status, records, is_complete = on_fleet(server, tmp_path / "home", work)
    assert (status, is_complete) == ("success", True)
    assert records > 3


def test_a_run_is_stopped_from_the_boss(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "hang-in-tool", monkeypatch)

    async def work(fleet: Fleet) -> tuple[str, str | None]:
        async with working(server, plan(tmp_path)), FleetRun(fleet, job()) as run:
            while not run.state.heard:
                await run.attached.read_now()
                await asyncio.sleep(0.02)
            run.stop(by="rook stop")
            verdict = await run.wait()
            return verdict.status, verdict.facts.person.stopped_by

    assert on_fleet(server, tmp_path / "home", work) == ("interrupted", "rook stop")


def test_a_job_that_waits_is_taken_back_and_never_starts(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)

    async def work(fleet: Fleet) -> str:
        async with FleetRun(fleet, job()) as run:
            run.stop(by="rook stop")
            verdict = await run.wait()
        async with working(server, plan(tmp_path)):
            await finished(fleet, job())
        return verdict.status

    assert on_fleet(server, tmp_path / "home", work) == "not_started"
    assert len(list((tmp_path / "w1" / "runs").iterdir())) == 1


def test_a_worker_that_drains_returns_a_job_that_it_has_not_started(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)

    async def work(fleet: Fleet) -> tuple[bool, str]:
        async with working(server, plan(tmp_path)) as worker:
            take = worker._take

            async def late(*args: Any) -> bool:
                worker.drain()
                return await take(*args)

            worker._take = late  # type: ignore[assignment]
            run = await finished(fleet, job())
            return run.replicator.was_returned, (run.folder.verdict() or failed()).status

    assert on_fleet(server, tmp_path / "home", work) == (True, "not_started")
    assert not (tmp_path / "w1" / "runs").exists()


def failed() -> Any:
    raise AssertionError


def test_a_worker_whose_name_is_taken_ends(server: LocalServer, tmp_path: Path) -> None:
    async def work(fleet: Fleet) -> None:
        async with working(server, plan(tmp_path / "a")):
            while "w1" not in fleet.beats.workers:
                await asyncio.sleep(0.02)
            second = Worker(fleet.connection, plan(tmp_path / "b"))
            with pytest.raises(NameTakenError):
                await second.run()

    on_fleet(server, tmp_path / "home", work)


def test_a_job_of_a_newer_format_is_refused_and_reported(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)

    async def work(fleet: Fleet) -> str | None:
        async with working(server, plan(tmp_path)) as worker:
            await make_queue(fleet.connection, "any", "claude")
            newer = msgspec.json.encode({"format": 99, "something": "else"})
            await fleet.connection.publish(subjects.job("any", "claude", "r", 1), newer)
            while worker.problem is None:
                await asyncio.sleep(0.02)
            return worker.problem

    problem = on_fleet(server, tmp_path / "home", work)
    assert problem == (
        "a job was not taken: it was written by a newer version of rook: update rook here"
    )


def test_the_format_is_sent_and_a_job_of_an_older_one_is_refused() -> None:
    assert msgspec.json.decode(dump(job()))["format"] == messages.FORMAT
    with pytest.raises(messages.BadMessageError, match="an older version of rook wrote it"):
        load(b'{"run": "r", "agent": "claude", "prompt": "x"}', Job)


def test_what_an_agent_spent_counts_if_its_worker_fails_after_it(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    report, failures = job_run.ended_of, [OSError("the disk is full")]

    def failing(*args: Any) -> Ended:
        if failures:
            raise failures.pop()
        return report(*args)

    monkeypatch.setattr(job_run, "ended_of", failing)

    async def work(fleet: Fleet) -> tuple[str, bool, str | None]:
        async with working(server, plan(tmp_path)):
            run = await finished(fleet, job())
        verdict = run.folder.verdict() or failed()
        return verdict.status, (verdict.spent_usd or 0.0) > 0.0, run.note

    assert on_fleet(server, tmp_path / "home", work) == ("success", True, "the disk is full")


def test_a_job_is_not_started_after_contact_was_lost(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    monkeypatch.setattr(Lease, "must_stop", lambda *_: True)

    async def work(fleet: Fleet) -> bool:
        async with working(server, plan(tmp_path)):
            return (await finished(fleet, job())).replicator.was_returned

    assert on_fleet(server, tmp_path / "home", work)
    assert not (tmp_path / "w1" / "runs").exists()


def test_an_order_to_send_again_that_comes_twice_does_not_end_the_worker(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    left_behind = JobRun.left_behind

    def slow(this: JobRun, entry: Entry) -> Ended:
        time.sleep(0.2)  # in a thread: as if the worker had many runs to look through
        return left_behind(this, entry)

    monkeypatch.setattr(JobRun, "left_behind", slow)

    async def work(fleet: Fleet) -> str:
        async with working(server, plan(tmp_path)) as worker:
            first = await finished(fleet, job())
            order = dump(ResendOrder(attempt=1, positions={"stdout": 0}))
            while worker.reporting:
                await asyncio.sleep(0.02)
            for _ in range(2):
                await fleet.connection.publish(subjects.order("w1", first.job.run), order)
            while not worker.reporting:
                await asyncio.sleep(0.02)
            async with asyncio.timeout(60):
                second = await finished(fleet, job())
            return (second.folder.verdict() or failed()).status

    assert on_fleet(server, tmp_path / "home", work) == "success"


def test_a_run_with_the_longest_prompt_ends(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    longest = job("x" * (messages.LARGEST - 1000))
    assert len(dump(longest)) < messages.LARGEST

    async def work(fleet: Fleet) -> str:
        async with working(server, plan(tmp_path)), asyncio.timeout(60):
            return ((await finished(fleet, longest)).folder.verdict() or failed()).status

    assert on_fleet(server, tmp_path / "home", work) == "success"


def test_an_order_that_a_quick_reconnect_missed_is_obeyed(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_LOOK_S", 1.0)  # longer than it takes to reconnect

    async def work(fleet: Fleet) -> None:
        subject = subjects.order("w1", subjects.WHOLE_WORKER)
        await fleet.connection.publish(subject, dump(DrainOrder()))
        async with working(server, plan(tmp_path)) as worker:
            while "w1" not in fleet.beats.workers:
                await asyncio.sleep(0.02)
            assert not worker.draining.is_set()
            await worker.connection.renew()
            async with asyncio.timeout(30):
                await worker.draining.wait()

    on_fleet(server, tmp_path / "home", work)
