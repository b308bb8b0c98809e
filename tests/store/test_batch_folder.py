"""Batch folders: tasks, terms, results and the lock."""

import os
from pathlib import Path

import pytest

from nightrook.model.errors import DamagedRunError
from nightrook.store import batch_folder
from nightrook.store.batch_folder import BatchBusyError, BatchFolder, BatchResult, BatchTerms


def test_a_new_batch_has_its_tasks_and_is_found_by_the_beginning_of_its_name(
    tmp_path: Path,
) -> None:
    folder = batch_folder.create(tmp_path, b'{"prompt":"x"}\n')
    assert folder.tasks() == b'{"prompt":"x"}\n'
    assert folder.path == tmp_path / "batches" / folder.name
    assert batch_folder.find(tmp_path, folder.name.removeprefix("batch-")).path == folder.path


def test_terms_stay_the_same_unless_they_are_changed(tmp_path: Path) -> None:
    folder = batch_folder.create(tmp_path, b"")
    assert folder.update_terms({}) == BatchTerms(jobs=2, max_cost=None)
    assert folder.update_terms({"max_cost": 3.0, "jobs": 4}) == BatchTerms(jobs=4, max_cost=3.0)
    again = batch_folder.find(tmp_path, folder.name)
    assert again.update_terms({}) == BatchTerms(jobs=4, max_cost=3.0)
    assert again.update_terms({"max_cost": 5.0}) == BatchTerms(jobs=4, max_cost=5.0)
    (folder.path / "batch.json").write_text('{"jobs": "many"}')
    with pytest.raises(DamagedRunError, match="has unexpected contents"):
        folder.update_terms({})


def test_a_result_that_a_crash_cut_short_is_left_out(tmp_path: Path) -> None:
    folder = batch_folder.create(tmp_path, b"")
    result = BatchResult(id="1", ok=True, status="success", exit_code=0, duration_s=1.0)
    folder.add_result(result)
    with (folder.path / "results.jsonl").open("ab") as file:
        file.write(b'{"id":"2","ok":tr\n\xff\n')
    assert folder.results() == [result]


def test_a_result_is_on_disk_when_it_was_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = batch_folder.create(tmp_path, b"")
    synced: list[bytes] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{fd}")).read_bytes())
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    folder.add_result(BatchResult(id="1", ok=True, status="success", exit_code=0, duration_s=1.0))
    assert synced == [(folder.path / "results.jsonl").read_bytes()]
    assert synced != [b""]


def test_only_one_process_runs_a_batch(tmp_path: Path) -> None:
    folder = batch_folder.create(tmp_path, b"")
    other = BatchFolder(folder.path)
    with folder.locked(), pytest.raises(BatchBusyError, match="already running"), other.locked():
        pass
    with other.locked():
        pass
