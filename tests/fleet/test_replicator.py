"""What a replicator believes, and what it does not: claims, chunks and questions of workers."""

import asyncio
from pathlib import Path

import pytest

from nightrook.fleet import subjects
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.messages import Claimed, Ended, dump
from nightrook.fleet.nats_server import LocalServer
from nightrook.model.questions import Decision
from nightrook.runs.asking import client
from tests.fleet.fleets import install, job, on_fleet, plan, working


def test_a_worker_that_was_not_given_a_job_is_not_believed(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)

    async def work(fleet: Fleet) -> tuple[str, str | None, str | None]:
        async with FleetRun(fleet, job()) as run:
            name = run.job.run
            publish = fleet.connection.publish
            liar = "thief"
            await publish(
                subjects.log(liar, name, 1, "claimed"), dump(Claimed(claim="x", instance="i"))
            )
            await publish(
                subjects.log(liar, name, 1, "stdout"), b"lies", headers={subjects.OFFSET: "0"}
            )
            await publish(subjects.log(liar, name, 1, "ended"), dump(Ended(claim="x")))
            async with working(server, plan(tmp_path)):
                verdict = await run.wait()
            return verdict.status, run.replicator.state.worker, run.replicator.state.stranger

    assert on_fleet(server, tmp_path / "home", work) == (
        "success",
        "w1",
        "thief says that it runs this, but was not given it",
    )


def test_what_an_agent_asks_elsewhere_is_answered_here(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "ask-permission", monkeypatch)

    async def work(fleet: Fleet) -> tuple[str, bool]:
        async with (
            working(server, plan(tmp_path)),
            FleetRun(fleet, job(permission="ask")) as run,
        ):
            waiting = asyncio.create_task(run.wait())
            questions: tuple[object, ...] = ()
            while not questions:
                await asyncio.sleep(0.05)
                if client.is_asking(run.folder):
                    questions = found = await client.open_questions(run.folder)
            decision = Decision(allow=True, by="person", through="terminal")
            outcome = await client.decide(run.folder, found[0].id, decision)
            return (await waiting).status, outcome.counts

    assert on_fleet(server, tmp_path / "home", work) == ("success", True)
