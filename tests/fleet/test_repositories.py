"""The user's repository with a job: to a worker through a real server, and back as a ref."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from nightrook.cli.fleet_batch import TaskAttempts
from nightrook.fleet.blobs import BlobError, receive_blob, send_blob
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.boss.repositories import Repositories, send_repository
from nightrook.fleet.connection import Address, connected
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.repository.fetch import fetched, origin_of
from nightrook.fleet.repository.formats import Packed
from nightrook.fleet.repository.pack import pack
from nightrook.fleet.streams import make_streams
from nightrook.fleet.worker.job_run import JobRepository
from tests.fleet.fleets import install, job, on_fleet, plan, working
from tests.fleet.repository.checkouts import commit, git, small, state
from tests.fleet.test_processes import environment, rook, worker


async def run_with(fleet: Fleet, packed: Packed, bundle: Path | None = None) -> FleetRun:
    """Run a job that works in a repository, to its end."""
    sent = replace(packed, bundle=str(bundle or packed.bundle))
    run = FleetRun(fleet, job(), send=lambda _: send_repository(fleet.connection, sent))
    async with run:
        await run.wait()
    return run


def test_what_a_run_changed_on_a_worker_comes_back_as_a_ref(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine write-file=made.txt", monkeypatch)
    home = small(tmp_path / "project")
    (home / "a.txt").write_text("not committed\n")
    (home / "sub").mkdir()
    (home / "sub" / "new.txt").write_text("new\n")
    before = state(home)
    packed = pack(str(home / "sub"), tmp_path / "packed")

    async def work(fleet: Fleet) -> FleetRun:
        async with working(server, plan(tmp_path)):
            return await run_with(fleet, packed)

    run = on_fleet(server, tmp_path / "home", work)
    result = git(home, "rev-parse", f"refs/rook/{run.name}").strip()  # it is there at the end
    origin = origin_of(run.folder)
    assert origin is not None
    _, change = fetched(run.folder, origin)
    assert git(home, "diff", "--name-only", change.base, change.result) == "sub/made.txt\n"
    assert result == change.result
    assert state(home) == before
    assert list((tmp_path / "w1" / "work").iterdir()) == []
    secret = run.job.repository.bundle.secret if run.job.repository else ""
    assert secret == "_"  # what is recorded of the job does not open the repository


def test_a_bundle_that_is_not_one_is_refused_before_an_agent_starts(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine", monkeypatch)
    packed = pack(str(small(tmp_path / "project")), tmp_path / "packed")
    nonsense = tmp_path / "nonsense"
    nonsense.write_bytes(b"not a bundle\n")

    async def work(fleet: Fleet) -> FleetRun:
        async with working(server, plan(tmp_path)):
            return await run_with(fleet, packed, nonsense)

    verdict = on_fleet(server, tmp_path / "home", work).folder.verdict()
    assert verdict is not None
    assert (verdict.status, verdict.spent_usd) == ("not_started", 0.0)
    assert "this is not a git bundle" in verdict.sentence
    assert not (tmp_path / "w1" / "runs").exists()


def test_a_file_of_a_job_is_opened_by_its_key_alone(server: LocalServer, tmp_path: Path) -> None:
    data = bytes(range(256)) * 5_000
    (tmp_path / "file").write_bytes(data)

    async def whole() -> None:
        async with connected(Address(url=server.url)) as connection:
            await make_streams(connection)
            blob = await send_blob(connection, tmp_path / "file")
            await receive_blob(connection, blob, tmp_path / "copy")
            assert (tmp_path / "copy").read_bytes() == data
            lies = [
                replace(blob, secret="0" * 64),
                replace(blob, secret="nonsense"),
                replace(blob, sha256="0" * 64),
                replace(blob, size=10),
                replace(blob, parts=blob.parts + 1),
            ]
            for number, lie in enumerate(lies):
                with pytest.raises(BlobError, match="no longer on the server"):
                    await receive_blob(connection, lie, tmp_path / f"lie-{number}")

    asyncio.run(whole())


def test_commits_that_every_worker_has_are_left_out_and_brought_if_one_lacks_them_after_all(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine write-file=made.txt", monkeypatch)
    home = small(tmp_path / "project")
    (home / "data").write_bytes(os.urandom(50_000))
    commit(home, "Add data")
    (home / "a.txt").write_text("not committed\n")

    async def finished(run: FleetRun) -> FleetRun:
        async with run:
            await run.wait()
        return run

    async def work(fleet: Fleet) -> list[int]:
        def asked_for() -> FleetRun:
            send = Repositories(fleet.connection, fleet.beats).of(str(home))
            return FleetRun(fleet, job(), send=send)

        async with working(server, plan(tmp_path)) as worker:
            runs = [await finished(asked_for())]
            while not fleet.beats.workers["w1"].beat.known:
                await asyncio.sleep(0.02)
            runs.append(await finished(asked_for()))
            shutil.rmtree(worker.plan.home / "repositories")
            async with TaskAttempts(asked_for(), []) as last:
                verdict = await last.wait()
            assert (verdict.status, last.name[-2:]) == ("success", ".2")  # the first was returned
        plans = [run.job.repository for run in runs]
        return [plan.bundle.size for plan in plans if plan is not None]

    sizes = on_fleet(server, tmp_path / "home", work)
    assert [size > 50_000 for size in sizes] == [True, False]


def test_what_does_not_come_back_is_noted(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "say=fine write-file=made.txt", monkeypatch)
    home = small(tmp_path / "project")
    packed = pack(str(home), tmp_path / "packed", files=("*.txt",))
    unpack = JobRepository.unpack

    def unpack_with_a_link(repository: JobRepository) -> None:
        unpack(repository)
        exclude = Path(repository.cwd, ".git", "info", "exclude")
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text("link.txt\n")
        Path(repository.cwd, "link.txt").symlink_to("a.txt")
        home.rename(tmp_path / "moved")

    monkeypatch.setattr(JobRepository, "unpack", unpack_with_a_link)

    async def work(fleet: Fleet) -> FleetRun:
        async with working(server, plan(tmp_path)):
            return await run_with(fleet, packed)

    run = on_fleet(server, tmp_path / "home", work)
    assert run.note is not None
    first, second = run.note.split("; ")
    assert first == "1 file not brought back, only plain files are: link.txt"
    assert second.startswith(f"the repository of the run is not at {home} any more")
    verdict = run.folder.verdict()
    assert verdict is not None
    assert verdict.status == "success"


def test_on_the_command_line_a_repository_goes_along_and_its_changes_are_applied(
    server: LocalServer, tmp_path: Path
) -> None:
    home = small(tmp_path / "project")
    call = caller(tmp_path, server, home)
    with worker(tmp_path, server, "say=fine write-file=made.txt"):
        done = call("run", "--on", "fleet", "--repo", "Make a file")
    assert done.returncode == 0, done.stderr
    assert "[rook] what it changed: rook diff " in done.stderr
    assert not (home / "made.txt").exists()
    assert call("diff", "--name-only").stdout == "made.txt\n"
    assert call("apply").stdout == "  made.txt\n"
    assert (home / "made.txt").exists()


def test_the_tasks_of_a_batch_bring_back_commits_and_files_that_git_ignores(
    server: LocalServer, tmp_path: Path
) -> None:
    home = small(tmp_path / "project")
    (home / ".gitignore").write_text("made.log\n")
    tasks = tmp_path / "tasks.jsonl"
    lines = [{"prompt": f"task {n}", "cwd": str(home)} for n in range(2)]
    tasks.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call = caller(tmp_path, server, home)
    batch = ("batch", str(tasks), "--fleet", "--json", "--repo")
    with worker(tmp_path, server, "say=fine write-file=made.log"):
        done = call(*batch, "--files", "*.log")
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line)["run"] for line in done.stdout.splitlines()]
    assert len(set(runs)) == 2
    for run in runs:
        assert call("apply", run, "--files").returncode == 0
        assert [path.name for path in (home / run).iterdir()] == ["made.log"]
    with worker(tmp_path, server, "say=fine write-file=made.txt", "w2"):
        done = call(*batch)
    runs = [json.loads(line)["run"] for line in done.stdout.splitlines()]
    for run in runs:
        assert git(home, "ls-tree", "--name-only", f"refs/rook/{run}", "made.txt") == "made.txt\n"


def caller(
    folder: Path, server: LocalServer, cwd: Path
) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """What calls rook as a user in a folder would."""
    env = environment(folder, "home", "say=fine", server.url)

    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            rook(*words), cwd=cwd, env=env, capture_output=True, text=True, check=False
        )

    return call
