"""What an iteration changed: by snapshots of git, and by lists of files."""

import os
from pathlib import Path
from stat import S_IMODE

import pytest

from nightrook.loops import changed_files
from nightrook.loops.changed_files import Listings, Snapshots
from nightrook.loops.events import IterationFinished
from nightrook.loops.state import Change
from nightrook.runs.git.git_command import do
from nightrook.runs.git.repository import find_repository, is_ignored
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


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text("a\n")
    return work


def listings(work: Path) -> Listings:
    return Listings(str(work), work.parent / "keep", without=work / "home")


def test_nothing_changed_is_known(work: Path) -> None:
    files = listings(work)
    before = files.take()
    assert before is not None
    assert files.change(before) == Change(files=0)


def test_what_was_written_made_and_removed_is_counted(work: Path) -> None:
    (work / "old.txt").touch()
    files = listings(work)
    before = files.take()
    with (work / "notes.txt").open("a") as notes:
        notes.write("b\n")
    (work / "old.txt").unlink()
    (work / "deep" / "er").mkdir(parents=True)
    (work / "deep" / "er" / os.fsdecode(b"\xff")).touch()
    assert files.change(before) == Change(files=3)


def test_what_was_kept_outlives_a_crash(work: Path) -> None:
    before = listings(work).take()
    (work / "new.txt").touch()
    assert listings(work).change(before) == Change(files=1)


def test_without_the_list_that_is_meant_nobody_can_tell(work: Path) -> None:
    files = listings(work)
    assert files.change(None) is None
    files.take()
    assert files.change(Change(mark="another")) is None


def test_folders_of_tools_our_own_and_links_are_left_out(work: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for folder in (work / "node_modules", work / ".git", work / "home", outside):
        folder.mkdir()
    (work / "link").symlink_to(outside)
    (work / "round").symlink_to(work)
    files = listings(work)
    before = files.take()
    for folder in (work / "node_modules", work / ".git", work / "home", outside):
        (folder / "new").touch()
    assert files.change(before) == Change(files=0)


def test_of_too_many_files_nobody_can_tell(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = listings(work)
    before = files.take()
    monkeypatch.setattr(changed_files, "_MOST_FILES", 1)
    (work / "one-more").touch()
    assert files.take() is None
    assert files.change(before) is None


def test_an_empty_folder_is_known_too(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    files = listings(empty)
    before = files.take()
    assert files.change(before) == Change(files=0)
    (empty / "first").touch()
    assert files.change(before) == Change(files=1)


def test_git_does_not_watch_what_it_ignores(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(work.parent))
    assert find_repository(str(work)) is None
    do(str(work), "init", "--quiet")
    assert find_repository(str(work)) is not None
    assert not is_ignored(str(work))
    (work / ".gitignore").write_text("build/\n")
    (work / "build").mkdir()
    assert is_ignored(str(work / "build"))


def test_a_list_is_private_and_is_not_written_through_a_link(work: Path) -> None:
    kept = work.parent / "keep" / "files"
    before = os.umask(0)
    try:
        assert listings(work).take() is not None
        assert kept.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
    kept.unlink()
    kept.symlink_to(work / "notes.txt")
    assert listings(work).take() is None
    assert (work / "notes.txt").read_text() == "a\n"
