"""A worker removes what the server has, if it is old or too much, and nothing else."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from nightrook.fleet.worker.journal import Entry, Journal, Stage
from nightrook.fleet.worker.pruning import Keep, prune
from nightrook.store.list import newest_first
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo
from tests.fleet.fleets import job

NOW = time.time()
HOUR_S = 3600.0


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def kept(journal: Journal, name: str, stage: Stage = "reported", size: int = 0) -> None:
    """A run on the worker."""
    made = create_run(journal.home, RunInfo(name=name, command=["x"], cwd="/", started_at=1.0))
    (made.path / "stdout.raw").write_bytes(b"x" * size)
    journal.save(Entry(job=replace(job(), run=name), stage=stage, folder=name))


def left(journal: Journal) -> set[str]:
    folders = {folder.name for folder in list(newest_first(journal.home))}
    assert folders == {entry.job.run for entry in journal.entries()}
    return folders


def test_only_what_the_server_has_is_removed_when_it_is_old(journal: Journal) -> None:
    kept(journal, "aaaa")
    kept(journal, "bbbb", "started")
    kept(journal, "cccc", "taken")
    keep = Keep(seconds=2 * HOUR_S)
    assert prune(journal, keep, NOW + HOUR_S) == []
    assert prune(journal, keep, NOW + 3 * HOUR_S) == ["aaaa/1"]
    assert left(journal) == {"bbbb", "cccc"}


def test_what_takes_too_much_is_removed_unless_it_was_just_reported(journal: Journal) -> None:
    kept(journal, "aaaa", size=20_000)
    kept(journal, "bbbb", "started", size=20_000)
    keep = Keep(size=10_000)
    assert prune(journal, keep, NOW) == []
    assert prune(journal, keep, NOW + HOUR_S) == ["aaaa/1"]
    assert left(journal) == {"bbbb"}


def test_a_run_whose_folder_is_gone_is_forgotten(journal: Journal) -> None:
    journal.save(Entry(job=replace(job(), run="aaaa"), stage="reported", folder="aaaa"))
    assert prune(journal, Keep(seconds=1.0), NOW + HOUR_S) == ["aaaa/1"]
    assert list(journal.entries()) == []
