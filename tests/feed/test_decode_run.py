"""Decoding a stored run by its folder or its name."""

from pathlib import Path

import pytest

import rookery
from tests.runs.scripted import play


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = play(tmp_path, "say=hi").folder.path
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    return path


def test_a_run_is_decoded_by_its_folder_or_its_name_with_arrival_times(folder: Path) -> None:
    records = list(rookery.decode(folder))
    assert list(rookery.decode(folder.name)) == records
    assert list(rookery.decode(folder.name[:3])) == records
    assert all(record.at is not None for record in records[:-1])
    stream = list(rookery.decode(folder / "stdout.raw"))
    assert [record.event for record in stream] == [record.event for record in records]
    assert all(record.at is None for record in stream)


def test_a_file_is_meant_before_a_run_of_that_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(folder.name).write_bytes((folder / "stdout.raw").read_bytes().split(b"\n")[0])
    assert len(list(rookery.decode(folder.name))) < len(list(rookery.decode(folder)))


def test_a_name_that_is_neither_is_a_missing_file(folder: Path) -> None:
    with pytest.raises(rookery.UnreadableSourceError, match="no such file"):
        list(rookery.decode("zzzzzz"))
    with pytest.raises(rookery.UnreadableSourceError, match="is a folder, not a file"):
        list(rookery.decode(folder.parent))
