"""What a home holds, and how it is removed."""

import os
from pathlib import Path

import msgspec
import pytest

from nightrook.model.errors import RunFolderError, UnknownRunError
from nightrook.store import batch_folder, removal
from nightrook.store.batch_folder import BatchResult
from nightrook.store.folders import LOOPS, NamedFolder
from nightrook.store.list import Stored, everything, find, newest_first
from nightrook.store.run_folder import create_run
from tests.store.samples import EXIT, INFO, VERDICT


def make_run(home: Path, owner: str | None = None) -> Stored:
    folder = create_run(home, msgspec.structs.replace(INFO, loop=owner, recorder_pid=None))
    folder.write_exit(EXIT)
    folder.write_verdict(VERDICT)
    return Stored("run", folder.path)


def make_loop(home: Path) -> Stored:
    return Stored("loop", LOOPS.create(home, {"plan.json": b"{}", "lock": b""}))


def make_batch(home: Path, *loops: Stored) -> Stored:
    folder = batch_folder.create(home, b"")
    for number, loop in enumerate(loops):
        result = BatchResult(
            id=str(number), ok=True, status="done", exit_code=0, loop=loop.name, duration_s=1.0
        )
        folder.add_result(result)
    return Stored("batch", folder.path)


def obstacle(stored: Stored, *, living: int = 0, marked: str = "") -> str | None:
    return removal.obstacle(
        stored,
        alive=lambda pid, _: pid == living,
        marked=lambda path: [1] if path == marked else [],
    )


def test_everything_in_a_home_is_found_by_name_and_by_its_beginning(tmp_path: Path) -> None:
    run, loop = make_run(tmp_path), make_loop(tmp_path)
    batch = make_batch(tmp_path)
    (tmp_path / "runs" / "link").symlink_to(run.path)
    (tmp_path / "runs" / "not a name").mkdir()
    assert sorted(everything(tmp_path)) == sorted([run, loop, batch])
    for stored in (run, loop, batch):
        assert find(tmp_path, stored.name) == stored
        assert find(tmp_path, stored.name[:-1]) == stored
    with pytest.raises(UnknownRunError, match="no loop named 'loop-none'"):
        find(tmp_path, "loop-none")
    assert list(everything(tmp_path / "missing")) == []


def test_a_loop_comes_with_its_runs_and_a_batch_with_its_loops(tmp_path: Path) -> None:
    loop, other = make_loop(tmp_path), make_loop(tmp_path)
    batch = make_batch(tmp_path, loop, Stored("loop", tmp_path / "loops" / "loop-gone"))
    of_loop, of_batch, of_other, alone = (
        make_run(tmp_path, owner) for owner in (loop.name, batch.name, other.name, None)
    )
    damaged = make_run(tmp_path, loop.name)
    (damaged.path / "run.json").write_bytes(b"\xff")
    assert set(removal.with_parts(tmp_path, [loop])) == {loop, of_loop}
    assert set(removal.with_parts(tmp_path, [batch])) == {batch, loop, of_loop, of_batch}
    assert set(removal.with_parts(tmp_path, [alone])) == {alone}
    assert set(removal.with_parts(tmp_path, [of_other, of_other])) == {of_other}


def test_what_is_removed_vanishes_and_the_rest_stays(tmp_path: Path) -> None:
    run, other, loop = make_run(tmp_path), make_run(tmp_path), make_loop(tmp_path)
    (run.path / "deep").mkdir()
    (run.path / "deep" / "link").symlink_to(other.path)
    removal.remove(run)
    removal.remove(loop)
    assert [folder.path for folder in list(newest_first(tmp_path))] == [other.path]
    assert {path.name for path in other.path.iterdir()} >= {"run.json", "verdict.json"}
    assert list((tmp_path / "new").iterdir()) == []
    assert list((tmp_path / "loops").iterdir()) == []


def test_what_cannot_be_deleted_is_reported_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(RunFolderError, match=rf"holds what could not be deleted of {run.name}"):
        removal.remove(run)
    assert not run.path.exists()


def test_a_run_that_is_running_is_not_removed(tmp_path: Path) -> None:
    info = msgspec.structs.replace(INFO, recorder_pid=4242, recorder_ticks=7)
    running = Stored("run", create_run(tmp_path, info).path)
    assert obstacle(running) is None
    assert obstacle(running, living=4242) == (
        f"run {running.name} is running: stop it first with  rook stop {running.name}"
    )


def test_a_damaged_run_is_removed_unless_a_process_has_its_marker(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (run.path / "run.json").write_bytes(b"{")
    assert obstacle(run) is None
    assert "is running" in (obstacle(run, marked=str(run.path)) or "")


def test_a_running_loop_is_not_removed_and_neither_are_its_runs(tmp_path: Path) -> None:
    for owner in (make_loop(tmp_path), make_batch(tmp_path)):
        run = make_run(tmp_path, owner.name)
        assert (obstacle(owner), obstacle(run)) == (None, None)
        with NamedFolder(owner.path).lock():
            assert obstacle(owner) == f"{owner.name} is running: stop it first"
            expected = f"run {run.name} is part of {owner.name}, which is running"
            assert obstacle(run) == expected


def test_a_loop_with_a_worktree_is_not_removed(tmp_path: Path) -> None:
    loop = make_loop(tmp_path)
    (loop.path / "worktree").mkdir()
    assert f"git worktree remove {loop.path}/worktree" in (obstacle(loop) or "")


def test_age_and_size_are_those_of_the_files(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    before = run.size
    (run.path / "deep").mkdir()
    (run.path / "deep" / "file").write_bytes(bytes(10_000))
    assert run.size >= before + 10_000
    for path in (run.path / "deep" / "file", run.path / "deep", *run.path.iterdir(), run.path):
        os.utime(path, (1000.0, 1000.0))
    assert run.changed == 1000.0
    os.utime(run.path / "verdict.json", (2000.0, 2000.0))
    assert run.changed == 2000.0
