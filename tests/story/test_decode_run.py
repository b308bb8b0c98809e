"""Decoding a stored run by its folder or its name."""

from pathlib import Path

import pytest

import nightrook
from tests.runs.scripted import play


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = play(tmp_path, "say=hi").folder.path
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "home"))
    return path


def test_a_run_is_decoded_by_its_folder_or_its_name_with_arrival_times(folder: Path) -> None:
    records = list(nightrook.decode(folder))
    assert list(nightrook.decode(folder.name)) == records
    assert list(nightrook.decode(folder.name[:3])) == records
    assert all(record.at is not None for record in records[:-1])
    stream = list(nightrook.decode(folder / "stdout.raw"))
    assert [record.event for record in stream] == [record.event for record in records]
    assert all(record.at is None for record in stream)


def test_a_file_is_meant_before_a_run_of_that_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(folder.name).write_bytes((folder / "stdout.raw").read_bytes().split(b"\n")[0])
    assert len(list(nightrook.decode(folder.name))) < len(list(nightrook.decode(folder)))


def test_a_name_that_is_neither_is_a_missing_file(folder: Path) -> None:
    with pytest.raises(nightrook.UnreadableSourceError, match="no such file"):
        list(nightrook.decode("zzzzzz"))
    with pytest.raises(nightrook.UnreadableSourceError, match="is a folder, not a file"):
        list(nightrook.decode(folder.parent))
