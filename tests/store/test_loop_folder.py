"""Loop folders: plan, state, events, stop requests and the lock."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from nightrook.model.errors import BadRunNameError, DamagedRunError, RunFolderError, UnknownRunError
from nightrook.store.folders import NotRunningError
from nightrook.store.loop_folder import (
    Codec,
    LoopBusyError,
    LoopFolder,
    LoopFolders,
)


def encode(value: dict[str, int]) -> bytes:
    return json.dumps(value).encode()


def decode(data: bytes) -> dict[str, int]:
    try:
        value: dict[str, int] = json.loads(data)
    except json.JSONDecodeError as error:
        raise msgspec.DecodeError from error
    return value


JSON = Codec(encode, decode)
FOLDERS = LoopFolders(plan=JSON, state=JSON, event=JSON)
Folder = LoopFolder[dict[str, int], dict[str, int], dict[str, int]]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return FOLDERS.create(tmp_path, {"plan": 1})


def test_a_new_loop_has_a_plan_and_no_state(folder: Folder, tmp_path: Path) -> None:
    assert (folder.plan(), folder.state(), list(folder.events())) == ({"plan": 1}, None, [])
    assert folder.path == tmp_path / "loops" / folder.name
    assert folder.branch == f"rook/{folder.name}"
    assert [each.path for each in FOLDERS.all(tmp_path)] == [folder.path]


def test_a_loop_is_found_with_and_without_its_prefix(folder: Folder, tmp_path: Path) -> None:
    for name in (folder.name, folder.name.removeprefix("loop-"), folder.name[:-1]):
        assert FOLDERS.find(tmp_path, name).path == folder.path
    with pytest.raises(UnknownRunError, match="no loop named 'loop-zzzzz'"):
        FOLDERS.find(tmp_path, "zzzzz")
    with pytest.raises(BadRunNameError):
        FOLDERS.find(tmp_path, "../x")


def test_what_is_saved_is_read_again(folder: Folder, tmp_path: Path) -> None:
    folder.save_plan({"plan": 2})
    folder.save_state({"state": 3})
    folder.add_event({"event": 4})
    folder.add_event({"event": 5})
    folder.close()
    again = FOLDERS.find(tmp_path, folder.name)
    assert (again.plan(), again.state()) == ({"plan": 2}, {"state": 3})
    assert list(again.events()) == [{"event": 4}, {"event": 5}]


def test_an_event_that_a_crash_cut_short_is_left_out(folder: Folder) -> None:
    folder.add_event({"event": 1})
    folder.close()
    with (folder.path / "events.jsonl").open("ab") as file:
        file.write(b'{"event": ')
    assert list(folder.events()) == [{"event": 1}]


@pytest.mark.parametrize("file", ["plan.json", "state.json"])
def test_a_damaged_file_is_named(file: str, folder: Folder) -> None:
    (folder.path / file).write_bytes(b"{")
    with pytest.raises(DamagedRunError, match=file):
        folder.plan() if file == "plan.json" else folder.state()


def test_a_missing_plan_is_named(folder: Folder) -> None:
    (folder.path / "plan.json").unlink()
    with pytest.raises(DamagedRunError, match=r"plan\.json.* is missing"):
        folder.plan()


def test_a_missing_folder_is_named(folder: Folder) -> None:
    shutil.rmtree(folder.path)
    with pytest.raises(RunFolderError, match="no longer exists"):
        folder.state()


def test_only_one_process_runs_a_loop(folder: Folder, tmp_path: Path) -> None:
    other = FOLDERS.find(tmp_path, folder.name)
    assert not other.is_running
    with folder.locked():
        assert FOLDERS.find(tmp_path, folder.name).is_running
        with pytest.raises(LoopBusyError, match=folder.name), other.locked():
            pass
    with other.locked():
        pass


def test_each_stop_request_differs_from_the_one_before(folder: Folder) -> None:
    with pytest.raises(NotRunningError, match="is not running"):
        folder.request_stop()
    requests = {folder.stop_request()}
    with folder.locked():
        for _ in range(2):
            folder.request_stop()
            requests.add(folder.stop_request())
    assert len(requests) == 3
