"""Folders are made whole, and get their name only then."""

import os
from pathlib import Path

import pytest

from nightrook.model.errors import RunFolderError
from nightrook.store import batch_folder
from nightrook.store.files import Folder
from nightrook.store.new_folders import make_folder


def test_a_folder_has_its_files_when_it_gets_its_name(tmp_path: Path) -> None:
    def write(folder: Folder, name: str) -> None:
        assert os.listdir(tmp_path / "things") == ["taken"]
        folder.replace("name", name.encode())

    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "taken").touch()
    made = make_folder(tmp_path, "things", ["taken", "free"], write)
    assert made == tmp_path / "things" / "free"
    assert (made / "name").read_text() == "free"
    assert os.listdir(tmp_path / "new") == []


def test_one_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    def write(folder: Folder, _: str) -> None:
        raise RunFolderError(str(folder.path), "No space left on device")

    with pytest.raises(RunFolderError):
        make_folder(tmp_path, "things", ["free"], write)
    assert (os.listdir(tmp_path / "things"), os.listdir(tmp_path / "new")) == ([], [])


def test_what_a_killed_process_left_unfinished_is_swept_away(tmp_path: Path) -> None:
    make_folder(tmp_path, "things", ["first"], lambda *_: None)
    for name in ("old", "recent"):
        (tmp_path / "new" / name).mkdir()
    os.utime(tmp_path / "new" / "old", (0, 0))
    make_folder(tmp_path, "things", ["second"], lambda *_: None)
    assert os.listdir(tmp_path / "new") == ["recent"]


def test_loops_and_batches_are_made_in_this_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    real = Folder.replace

    def replace(folder: Folder, name: str, data: bytes) -> None:
        seen.append(os.listdir(tmp_path / "batches"))
        real(folder, name, data)

    monkeypatch.setattr(Folder, "replace", replace)
    batch_folder.create(tmp_path, b"{}")
    assert seen == [[]]
