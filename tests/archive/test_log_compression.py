"""Which runs are compressed, and which are left as they are."""

import os
import time
from pathlib import Path

import pytest

from nightrook.archive.log_compression import (
    Candidate,
    Skipped,
    compress_logs,
    expected_size,
    logs_to_compress,
    logs_to_restore,
    named_logs_to_compress,
    restore_logs,
)
from nightrook.model.errors import NightrookError
from nightrook.process.liveness import start_ticks
from nightrook.store.list import Stored
from nightrook.store.packing import pin
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo
from tests.store.samples import append

DAY_S = 86_400
LOG = b'{"type":"text","text":"hello"}\n' * 3000


def make_run(home: Path, *, days: float = 0, pid: int = 0, log: bytes = LOG) -> RunFolder:
    """A run that last changed some days ago; with a pid, one that is running."""
    at = time.time() - days * DAY_S
    ticks = start_ticks(pid) if pid else None
    info = RunInfo(
        command=["claude"], cwd="/", started_at=at, recorder_pid=pid or None, recorder_ticks=ticks
    )
    folder = create_run(home, info)
    append(folder, "stdout", log)
    if not pid:
        verdict = VerdictInfo(status="success", sentence="done", exit_code=0, ended_at=at)
        folder.write_verdict(verdict)
    for path in (*folder.path.iterdir(), folder.path):
        os.utime(path, (at, at))
    return folder


def week_old(home: Path, keep: int = 0) -> list[Candidate | Skipped]:
    return list(logs_to_compress(home, before=time.time() - 7 * DAY_S, keep=keep))


def names(found: list[Candidate | Skipped]) -> list[str]:
    return [each.run.name for each in found if isinstance(each, Candidate)]


def test_runs_are_chosen_by_age_and_the_newest_can_be_kept(tmp_path: Path) -> None:
    make_run(tmp_path, days=1)
    older, oldest = make_run(tmp_path, days=10), make_run(tmp_path, days=20)
    make_run(tmp_path, days=30, log=b"small")
    assert names(week_old(tmp_path)) == [older.name, oldest.name]
    assert names(week_old(tmp_path, keep=2)) == [oldest.name]


def test_what_runs_is_pinned_or_cannot_be_read_is_left_and_named(tmp_path: Path) -> None:
    alive = make_run(tmp_path, days=10, pid=os.getpid())
    pinned, bad = make_run(tmp_path, days=11), make_run(tmp_path, days=12)
    pin(pinned.path)
    (bad.path / "stdout.raw").unlink()
    (bad.path / "stdout.raw").symlink_to("/etc/passwd")
    for path in (bad.path, bad.path / "stdout.raw", pinned.path / "pinned"):
        os.utime(path, (1, 1), follow_symlinks=False)
    reasons = {each.run.name: each.why for each in week_old(tmp_path) if isinstance(each, Skipped)}
    assert reasons.keys() == {alive.name, pinned.name, bad.name}
    assert "has not ended" in reasons[alive.name]
    assert "is pinned" in reasons[pinned.name]
    assert "is a link" in reasons[bad.name]


def test_a_run_without_a_verdict_is_left_since_it_may_be_judged_now(tmp_path: Path) -> None:
    run = make_run(tmp_path, days=10)
    (run.path / "verdict.json").unlink()
    with pytest.raises(NightrookError, match="has not ended"):
        compress_logs(Stored("run", run.path))
    assert (run.path / "stdout.raw").read_bytes() == LOG


def test_a_named_run_is_chosen_whatever_its_age_and_comes_back(tmp_path: Path) -> None:
    run = make_run(tmp_path, log=b"small\n" * 100)
    (choice,) = named_logs_to_compress(tmp_path, [run.name])
    assert isinstance(choice, Candidate)
    assert 0 < expected_size(choice.run) < choice.size
    packing = compress_logs(choice.run)
    assert (packing.before, list(named_logs_to_compress(tmp_path, [run.name]))) == (600, [])
    (packed,) = logs_to_restore(tmp_path, [])
    restore_logs(packed.run)
    assert (run.path / "stdout.raw").read_bytes() == b"small\n" * 100
    assert list(logs_to_restore(tmp_path, [run.name])) == []
