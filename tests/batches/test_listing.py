"""Batches as they are now: ended, running and interrupted ones, and damaged ones."""

import json
import os
import time
from pathlib import Path

import pytest

from nightrook.batches.listing import ListedTask, list_batches, read_batch
from nightrook.store import batch_folder
from nightrook.store.batch_folder import BatchFolder, BatchResult
from tests.cli.desk import Desk
from tests.runs.folders import ended, live

GOOD = BatchResult(
    id="a", ok=True, status="success", exit_code=0, run="k7f3", spent_usd=0.5, duration_s=2.0
)
GOOD_TASK = ListedTask(
    id="a",
    prompt="First",
    status="success",
    ok=True,
    exit_code=0,
    run="k7f3",
    spent_usd=0.5,
    duration_s=2.0,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    return tmp_path


def batch(home: Path, *results: BatchResult) -> BatchFolder:
    """Make a batch of three tasks, and keep these results."""
    tasks = [{"id": "a", "prompt": "First"}, {"id": "b", "prompt": "Second"}, {"prompt": "Third"}]
    folder = batch_folder.create(
        home, b"".join(json.dumps(task).encode() + b"\n" for task in tasks)
    )
    for result in results:
        folder.add_result(result)
    return folder


def test_a_running_batch_shows_the_runs_and_costs_of_its_tasks(home: Path) -> None:
    folder = batch(home, GOOD)
    run = live(home, 6, loop=folder.name, iteration=2)
    with folder.locked():
        found = read_batch(folder)
    assert (found.status, found.done, found.failed) == ("running", 1, 0)
    first, second, third = found.tasks
    assert first == GOOD_TASK
    assert (second.status, second.run, second.ok) == ("running", run.name, None)
    assert second.spent_usd is not None
    assert second.duration_s is not None
    assert (third.status, third.run, third.spent_usd) == ("waiting", None, None)
    assert found.spent_usd == pytest.approx(0.5 + second.spent_usd)


def test_an_interrupted_batch_counts_what_its_unfinished_tasks_have_cost(home: Path) -> None:
    folder = batch(home, GOOD)
    run = ended(home, started_at=time.time(), loop=folder.name, iteration=2)
    found = read_batch(folder)
    assert found.status == "interrupted"
    assert [task.status for task in found.tasks] == ["success", "not done", "not done"]
    assert (found.tasks[1].run, found.spent_usd) == (run.name, 0.625)


def test_a_batch_that_has_ended_opens_no_run(home: Path) -> None:
    results = [GOOD, BatchResult(id="b", ok=False, status="failed", exit_code=1, duration_s=1.0)]
    results.append(BatchResult(id="3", ok=True, status="success", exit_code=0, duration_s=1.0))
    folder = batch(home, *results)
    (home / "runs").symlink_to(home)  # which would be refused
    found = read_batch(folder)
    assert (found.status, found.done, found.failed, found.unknown_costs) == ("failed", 3, 1, 3)


def test_batches_are_listed_newest_first_and_a_damaged_one_hides_no_other(home: Path) -> None:
    old, new, broken = batch(home, GOOD), batch(home), batch(home)
    os.utime(old.tasks_path, (1.0, 1.0))
    broken.tasks_path.write_bytes(b"{")
    os.utime(broken.tasks_path, (2.0, 2.0))
    listed = list_batches(home)
    assert [each.batch for each in listed] == [new.name, broken.name, old.name]
    assert [each.status for each in listed] == ["interrupted", "damaged", "interrupted"]
    assert "line 1" in (listed[1].problem or "")


def test_rook_batches_and_rook_show_list_what_there_is(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert "There are no batches yet" in desk.rook("batches").stdout
    folder = batch(tmp_path / "runs-home", GOOD)
    head, row = desk.rook("batches").stdout.splitlines()
    assert " ".join(head.split()) == "BATCH WHEN STATUS DONE FAILED COST FIRST TASK"
    assert row.split()[0] == folder.name
    assert "interrupted  1 of 3" in row
    told = json.loads(desk.rook("batches", "--json").stdout)
    assert (told["batch"], told["tasks"][0]["run"]) == (folder.name, "k7f3")
    shown = desk.rook("show", folder.name)
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[1].split()[:5] == ["a", "success", "2.0s", "~$0.5000", "k7f3"]
    assert "not done" in lines[2]
    assert f"[rook] {folder.name} · interrupted · 1 of 3 tasks done · 0 failed · " in shown.stdout
    assert f"[rook] resume:  rook batch --resume {folder.name}" in shown.stdout
