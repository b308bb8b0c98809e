"""Snapshots of a repository: what an iteration changed, and that nothing is left open to others."""

from pathlib import Path
from stat import S_IMODE

import pytest

from nightrook.loops.changes.git import Snapshots
from nightrook.loops.events import IterationFinished
from nightrook.loops.state import Change
from nightrook.runs.git.repository import find_repository
from tests.loops.playing import install, plan, play, repository


def test_git_reports_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a write-file=new.txt", "say=DONE"], monkeypatch)
    repository(work)
    loop, events = play(plan(work))
    ended = [event for event in events if isinstance(event, IterationFinished)]
    assert [event.files for event in ended] == [1, 0]
    assert loop.end == "done"


def test_only_the_owner_can_read_a_snapshot(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    repository(work)
    found = find_repository(str(work))
    assert found is not None
    (work / "secret.txt").write_text("x")
    snapshots = Snapshots(found, tmp_path / "kept")
    before = snapshots.take()
    (work / "secret.txt").write_text("y")
    assert snapshots.change(before) == Change(files=1, added=1, removed=1, mark=snapshots._tree())
    kept = [tmp_path / "kept", *(tmp_path / "kept").rglob("*")]
    assert any(path.is_file() for path in kept)
    assert {S_IMODE(path.stat().st_mode) & 0o077 for path in kept} == {0}
