"""Folders of loops and batches: made whole, found, read and locked."""

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from nightrook.model.errors import RunFolderError
from nightrook.store import batch_folder
from nightrook.store.files import Folder
from nightrook.store.folders import FolderKind, NamedFolder, NewLines, make_folder


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


KIND = FolderKind(parent="loops", what="loop")


def test_new_lines_are_read_once_and_only_when_they_are_complete(tmp_path: Path) -> None:
    path = KIND.create(tmp_path, {})
    lines = NewLines(path, "log", bytes.decode)
    assert lines.read() == []
    with (path / "log").open("ab", buffering=0) as log:
        log.write("one\ntwo\nthré".encode()[:-1])
        assert lines.read() == ["one", "two"]
        log.write("é\n".encode()[1:] + b"\xff\nfour\n")
    assert lines.read() == ["thré", "four"]  # a line that cannot be decoded is left out
    assert lines.read() == []


def test_any_number_can_ask_at_once_whether_it_is_running(tmp_path: Path) -> None:
    folder = NamedFolder(KIND.create(tmp_path, {}))
    states = [folder.is_locked]
    with folder.lock():
        states.append(folder.is_locked)
    with ExitStack() as asking:
        for _ in range(2):
            file = asking.enter_context((folder.path / "lock").open())
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # as those do that ask
        states.append(folder.is_locked)
    assert states == [False, True, False]
