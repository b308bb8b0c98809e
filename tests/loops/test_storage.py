"""Loop folders with the types of a loop: newest first, and one that is damaged hides no other."""

from pathlib import Path

import msgspec
import pytest

from nightrook.loops.plan import Goal, LoopPlan, make_plan
from nightrook.loops.state import LoopState
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder, newest_first
from nightrook.model.errors import DamagedRunError

PLAN: LoopPlan = make_plan(agent="claude", cwd="/", prompt="p", goal=Goal(until="DONE"))


def stored(home: Path, started_at: float) -> LoopFolder:
    folder = LOOP_FOLDERS.create(home, PLAN)
    folder.save_state(LoopState(started_at=started_at, agent="claude"))
    return folder


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    folder = stored(tmp_path, 5.0)
    again = LOOP_FOLDERS.find(tmp_path, folder.name)
    assert (again.plan(), again.state()) == (PLAN, LoopState(started_at=5.0, agent="claude"))


def test_the_newest_comes_first_and_a_damaged_one_last(tmp_path: Path) -> None:
    old, damaged, new = (stored(tmp_path, at) for at in (1.0, 9.0, 3.0))
    (damaged.path / "state.json").write_bytes(b"\xff{")
    empty = tmp_path / "loops" / "loop-empty"
    empty.mkdir()
    names = [folder.name for folder in newest_first(tmp_path)]
    assert names[:2] == [new.name, old.name]
    assert set(names[2:]) == {damaged.name, "loop-empty"}


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff", b'{"started_at":"x","agent":"a"}', b"[" * 100_000]
)
def test_a_damaged_state_is_an_error_that_names_the_file(data: bytes, tmp_path: Path) -> None:
    folder = stored(tmp_path, 1.0)
    (folder.path / "state.json").write_bytes(data)
    with pytest.raises(DamagedRunError, match=r"state\.json"):
        folder.state()


def test_a_state_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    folder = stored(tmp_path, 1.0)
    (folder.path / "state.json").write_bytes(b'{"started_at":7,"agent":"codex","begun":null}')
    state = folder.state()
    assert state == LoopState(started_at=7.0, agent="codex")
    assert b"saved_at" not in msgspec.json.encode(state)
