"""A repository goes to a worker and back: all of it arrives, and the user's files stay."""

import os
from pathlib import Path

import pytest

from nightrook.fleet.repository.pack import PackError
from tests.fleet.repository.checkouts import Trip, commit, files, git, rich, small, state

NOT_SENT = {".env", "noise.log", "module/a.txt", "module/b.txt"}


def changed_by_agent(top: Path) -> None:
    """Commit something, and leave something uncommitted, of every kind."""
    (top / "a.txt").write_text("by the agent\n")
    commit(top, "Change a file")
    git(top, "mv", "renamed.txt", "moved.txt")
    (top / "made.bin").write_bytes(b"\0\xff" * 300)
    (top / "made-link").symlink_to("made.bin")
    (top / "tool.sh").chmod(0o755)
    (top / "lines.crlf").write_bytes(b"one\r\nTWO\r\nTHREE\r\n")
    Path(os.fsdecode(os.path.join(os.fsencode(top), b"agent-\xfe"))).write_text("odd\n")
    (top / "new.txt").unlink()


def test_a_checkout_with_everything_in_it_is_left_alone_and_arrives(tmp_path: Path) -> None:
    home = rich(tmp_path / "home")
    before, sent = state(home), files(home)
    trip = Trip(home, tmp_path / "trip")
    work = trip.unpack()
    top = Path(work.top)
    assert files(top) == {name: file for name, file in sent.items() if name not in NOT_SENT}
    assert git(top, "status", "--porcelain") == ""
    assert git(top, "log", "--format=%s") == "Uncommitted changes\nAdd more files\nAdd files\n"
    assert git(top, "branch", "--show-current") == "main\n"
    changed_by_agent(top)
    after_run = files(top)
    result = trip.fetch(trip.collect(work))
    assert state(home) == before
    assert git(home, "rev-parse", "refs/rook/k7f3").strip() == result
    subjects = git(home, "log", "--format=%s", "refs/rook/k7f3").split("\n")
    assert subjects[:2] == ["Changes that the agent did not commit", "Change a file"]
    git(home, "fsck", "--strict")
    back = tmp_path / "back"
    git(home, "worktree", "add", "--quiet", "--detach", str(back), result)
    assert files(back) == after_run


def test_what_does_not_travel_is_reported_with_the_way_out(tmp_path: Path) -> None:
    home = rich(tmp_path / "home")
    git(home, "config", "filter.lfs.clean", "git-lfs clean")
    notes = Trip(home, tmp_path / "trip").packed.notes
    assert len(notes) == 3
    assert "1 submodule not sent (module)" in notes[1]
    assert "git submodule update --init" in notes[1]
    assert "1 file of Git LFS sent as pointers (model.big)" in notes[2]
    assert "(.env)" in notes[0]


@pytest.mark.parametrize("untracked", [True, False])
def test_untracked_files_are_sent_by_choice(tmp_path: Path, untracked: bool) -> None:
    home = small(tmp_path / "home")
    (home / "new.txt").write_text("new\n")
    work = Trip(home, tmp_path / "trip", untracked=untracked).unpack()
    assert Path(work.top, "new.txt").exists() is untracked


def test_the_same_files_give_the_same_commit(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / "new.txt").write_text("new\n")
    bases = {Trip(home, tmp_path / f"trip-{n}").packed.shipment.base for n in range(2)}
    assert len(bases) == 1


def test_nothing_comes_back_if_nothing_changed(tmp_path: Path) -> None:
    trip = Trip(small(tmp_path / "home"), tmp_path / "trip")
    collected = trip.collect(trip.unpack())
    assert (collected.bundle, collected.files, collected.notes) == (None, None, ())


def test_a_repository_without_commits_travels(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    git(home, "init", "--quiet")
    (home / "first.txt").write_text("first\n")
    before = state(home)
    trip = Trip(home, tmp_path / "trip")
    work = trip.unpack()
    assert Path(work.top, "first.txt").read_text() == "first\n"
    Path(work.top, "second.txt").write_text("second\n")
    result = trip.fetch(trip.collect(work))
    assert state(home) == before
    assert git(home, "ls-tree", "--name-only", result) == "first.txt\nsecond.txt\n"


def test_an_empty_repository_travels(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    git(home, "init", "--quiet")
    trip = Trip(home, tmp_path / "trip")
    work = trip.unpack()
    Path(work.top, "made.txt").write_text("made\n")
    assert git(home, "ls-tree", "--name-only", trip.fetch(trip.collect(work))) == "made.txt\n"


def test_a_detached_head_stays_detached(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    git(home, "checkout", "--quiet", "--detach")
    before = state(home)
    trip = Trip(home, tmp_path / "trip")
    work = trip.unpack()
    assert git(work.top, "branch", "--show-current") == ""
    Path(work.top, "a.txt").write_text("agent\n")
    trip.fetch(trip.collect(work))
    assert state(home) == before


def test_a_worktree_and_a_folder_in_it_travel(tmp_path: Path) -> None:
    main = small(tmp_path / "main")
    (main / "sub").mkdir()
    (main / "sub" / "file").write_text("x")
    commit(main, "Add a folder")
    home = tmp_path / "linked"
    git(main, "worktree", "add", "--quiet", "-b", "feature", str(home))
    (home / "a.txt").write_text("changed in the worktree\n")
    before = (state(home), state(main))
    trip = Trip(home / "sub", tmp_path / "trip")
    work = trip.unpack()
    assert work.cwd == os.path.join(work.top, "sub")
    assert git(work.top, "branch", "--show-current") == "feature\n"
    assert Path(work.top, "a.txt").read_text() == "changed in the worktree\n"
    Path(work.cwd, "made").write_text("made\n")
    trip.fetch(trip.collect(work))
    assert (state(home), state(main)) == before
    assert git(main, "show", "refs/rook/k7f3:sub/made") == "made\n"


def test_a_folder_that_is_not_committed_is_made_on_the_worker(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / "empty").mkdir()
    assert Path(Trip(home / "empty", tmp_path / "trip").unpack().cwd).is_dir()


def test_a_shallow_clone_travels_as_it_is(tmp_path: Path) -> None:
    source = small(tmp_path / "source")
    for number in range(3):
        commit(source, f"Commit {number}")
    home = tmp_path / "home"
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{source}", str(home))
    before = state(home)
    trip = Trip(home, tmp_path / "trip")
    assert [note.partition(":")[0] for note in trip.packed.notes] == ["this is a shallow clone"]
    work = trip.unpack()
    assert git(work.top, "log", "--format=%s") == "Commit 2\nCommit 1\n"
    Path(work.top, "a.txt").write_text("agent\n")
    trip.fetch(trip.collect(work))
    assert state(home) == before
    git(home, "fsck")


def test_a_history_that_the_agent_rewrote_comes_back(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / "a.txt").write_text("mine\n")
    trip = Trip(home, tmp_path / "trip")
    work = trip.unpack()
    Path(work.top, "b.txt").write_text("agent\n")
    git(work.top, "commit", "--quiet", "--all", "--amend", "-m", "Rewritten")
    git(work.top, "branch", "side", "HEAD@{1}")
    collected = trip.collect(work)
    assert "not the other branches: side" in collected.notes[0]
    result = trip.fetch(collected)
    assert git(home, "log", "--format=%s", result) == "Rewritten\nAdd files\n"
    base = trip.packed.shipment.base
    assert git(home, "rev-parse", "refs/rook/k7f3@base").strip() == base


def test_only_what_the_worker_lacks_is_sent(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / "data").write_bytes(os.urandom(50_000))
    commit(home, "Add data")
    head = git(home, "rev-parse", "HEAD").strip()
    (home / "a.txt").write_text("changed\n")
    whole = Trip(home, tmp_path / "whole").packed
    rest = Trip(home, tmp_path / "rest", known=[head, "0" * 40, "not a commit"]).packed
    assert whole.size > 50_000
    assert rest.size < 1_000


def test_outside_of_a_repository_nothing_is_sent(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="isn't in a git repository"):
        Trip(tmp_path, tmp_path / "trip")
