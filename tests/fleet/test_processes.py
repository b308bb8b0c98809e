"""Workers and bosses as processes: killed, stopped, and compared with the same work done here."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.boss.folders import folder_from_server, read_state
from nightrook.fleet.boss.replicator import Replicator
from nightrook.fleet.boss.settlement import stored_settlement
from nightrook.fleet.nats_server import LocalServer
from nightrook.store.list import find_run, newest_first
from nightrook.testing import install_agent
from tests.fleet.fleets import job, on_fleet


def environment(folder: Path, home: str, script: str, url: str) -> dict[str, str]:
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    install_agent(programs)
    return {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "ROOK_HOME": str(folder / home),
        "ROOK_SCRIPT": script,
        "ROOK_FLEET_CREDENTIALS": url,
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


def rook(*words: str) -> list[str]:
    return [sys.executable, "-m", "nightrook", *words]


@contextmanager
def worker(
    folder: Path, server: LocalServer, script: str, name: str = "w1"
) -> Iterator[subprocess.Popen[bytes]]:
    words = ("worker", "--credentials", server.url, "--name", name, "--agent", "claude")
    process = subprocess.Popen(
        rook(*words, "--jobs", "2"),
        env=environment(folder, name, script, server.url),
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        for _ in range(3):
            process.terminate()
        process.wait(30)


async def heard(run: FleetRun) -> None:
    while not run.state.heard:
        assert run.folder.verdict() is None, "it ended before it was heard"
        await run.attached.read_now()
        await asyncio.sleep(0.02)


def test_a_killed_worker_loses_its_run_and_what_happened_replaces_it(
    server: LocalServer, tmp_path: Path
) -> None:
    async def lost(fleet: Fleet) -> str:
        with worker(tmp_path, server, "hang-in-tool") as process:
            async with FleetRun(fleet, job(lease_s=5.0)) as run:
                await heard(run)
                process.kill()
                verdict = await run.wait()
                assert (verdict.status, verdict.exit_code) == ("lost", 3)
                assert verdict.sentence.startswith("worker w1 was not heard of any more")
                assert (run.folder.verdict() or verdict).status == "lost"
                return run.name

    name = on_fleet(server, tmp_path / "home", lost)

    async def back(fleet: Fleet) -> tuple[str, str]:
        folder = find_run(tmp_path / "home", name)
        state = read_state(folder)
        assert state is not None
        with worker(tmp_path, server, "hang-in-tool"):
            status = "lost"
            while status == "lost":  # until the worker is back
                async with Replicator(fleet.connection, folder, state, fleet.beats) as replicator:
                    status = (await replicator.wait()).status
        found = await stored_settlement(fleet.connection, state.job)
        assert found is not None
        verdict = folder.verdict()
        assert verdict is not None
        return verdict.status, found[0].status

    state = on_fleet(server, tmp_path / "home", back)
    assert state == ("incomplete", "incomplete")
    there = next((tmp_path / "w1" / "workers" / "w1" / "runs").iterdir())
    here = tmp_path / "home" / "runs" / name
    assert (here / "stdout.raw").read_bytes() == (there / "stdout.raw").read_bytes()


def test_a_worker_without_contact_stops_its_agent_before_the_lease_is_over(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> str:
        with worker(tmp_path, server, "hang-in-tool"):
            async with FleetRun(fleet, job(lease_s=3.0)) as run:
                await heard(run)
                server.process.send_signal(signal.SIGSTOP)
                there = next((tmp_path / "w1" / "workers" / "w1" / "runs").iterdir())
                while not (there / "exit.json").exists():
                    await asyncio.sleep(0.02)
                server.process.send_signal(signal.SIGCONT)
                verdict = await run.wait()
        return verdict.sentence

    sentence = on_fleet(server, tmp_path / "home", work)
    assert sentence.startswith("interrupted: its worker lost contact with the fleet")


@pytest.mark.slow
def test_a_batch_on_a_fleet_has_the_results_of_one_here(
    server: LocalServer, tmp_path: Path
) -> None:
    tasks = tmp_path / "tasks.jsonl"
    lines = [{"prompt": f"task {n}", "id": f"t{n}", "cwd": str(tmp_path)} for n in range(6)]
    tasks.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def results(home: str, *words: str) -> tuple[int, list[tuple[object, ...]]]:
        done = subprocess.run(
            rook("batch", str(tasks), "--json", "--jobs", "4", "--max-cost", "5", *words),
            env=environment(tmp_path, home, "say=fine", server.url),
            capture_output=True,
            check=False,
        )
        found = [json.loads(line) for line in done.stdout.splitlines()]
        keys = ("id", "ok", "status", "exit_code", "spent_usd", "cost_source", "answer")
        return done.returncode, sorted(tuple(each.get(key) for key in keys) for each in found)

    with worker(tmp_path, server, "say=fine"), worker(tmp_path, server, "say=fine", "w2"):
        assert results("there", "--fleet") == results("here")
    used = {info.machine for run in list(newest_first(tmp_path / "there")) if (info := run.info())}
    assert used == {"w1", "w2"}


def test_a_local_run_is_shipped_and_can_be_attached_to_elsewhere(
    server: LocalServer, tmp_path: Path
) -> None:
    async def made(fleet: Fleet) -> None:
        assert fleet.connection.is_up  # its streams exist now

    on_fleet(server, tmp_path / "home", made)
    here = environment(tmp_path, "here", "say=fine", server.url)
    done = subprocess.run(
        rook("run", "--sink", server.url, "--cwd", str(tmp_path), "Fix it"),
        env=here,
        capture_output=True,
        check=True,
    )
    assert b"was not" not in done.stderr
    run = next((tmp_path / "here" / "runs").iterdir())
    there = environment(tmp_path, "there", "", server.url)
    shown = subprocess.run(
        rook("attach", run.name), env=there, capture_output=True, text=True, check=False
    )
    assert (shown.returncode, "fine" in shown.stdout) == (0, True)
    copy = tmp_path / "there" / "runs" / run.name / "stdout.raw"
    assert copy.read_bytes() == (run / "stdout.raw").read_bytes()


def test_a_run_that_could_not_be_shipped_is_shipped_later(
    server: LocalServer, tmp_path: Path
) -> None:
    home = tmp_path / "here"
    env = environment(tmp_path, "here", "say=fine", server.url)
    words = ("run", "--cwd", str(tmp_path), "Fix it")
    subprocess.run(rook(*words), env=env, capture_output=True, check=True)  # without --sink
    run = next((home / "runs").iterdir())

    async def work(fleet: Fleet) -> bytes:
        await asyncio.to_thread(
            subprocess.run,
            rook("fleet", "ship", run.name),
            env=env,
            capture_output=True,
            check=True,
        )
        folder = await folder_from_server(fleet.connection, fleet.home, run.name)
        state = read_state(folder)
        assert state is not None
        async with Replicator(fleet.connection, folder, state, fleet.beats) as replicator:
            assert (await replicator.wait()).status == "success"
        return (folder.path / "stdout.raw").read_bytes()

    sent = on_fleet(server, tmp_path / "home", work)
    assert sent == (run / "stdout.raw").read_bytes()
