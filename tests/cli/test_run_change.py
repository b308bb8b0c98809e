"""`rook diff` and `rook apply`: runs on other machines, runs and loops in worktrees."""

import shutil
from pathlib import Path

import pytest
from tests.cli.desk import Desk
from tests.fleet.repository.checkouts import Trip, commit, git, state
from tests.warm import rook_bytes

from nightrook.fleet.repository.fetch import keep_origin
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo
from nightrook.testing import install_agent


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.path += f":{Path(shutil.which('git') or 'git').parent}"
    git(desk.project, "init", "--quiet")
    git(desk.project, "config", "user.name", "Ada")
    git(desk.project, "config", "user.email", "ada@example.org")
    (desk.project / "a.txt").write_text("a\n")
    (desk.project / "sub").mkdir()
    (desk.project / "sub" / "b.txt").write_text("b\n")
    commit(desk.project, "Add files")
    return desk


def fleet_run(desk: Desk, name: str = "k7f3") -> RunFolder:
    """A run on another machine that is over: a file changed, one made, one outside of git."""
    (desk.project / ".git" / "info" / "exclude").write_text("*.log\n")
    trip = Trip(desk.project, desk.home / f"trip-{name}", files=("*.log",))
    work = trip.unpack()
    Path(work.top, "a.txt").write_text("\x1b[31magent\n")
    Path(work.top, "sub", "made.txt").write_text("made\n")
    Path(work.top, "noise.log").write_text("log\n")
    Path(work.top, ".gitignore").write_text("*.log\n")
    collected = trip.collect(work)
    info = RunInfo(name=name, command=["claude"], cwd="/x", started_at=1.0, prompt="Fix it")
    folder = create_run(desk.home / "runs-home", info)
    keep_origin(folder, trip.packed.origin)
    assert collected.bundle
    assert collected.files
    shutil.copy(collected.bundle, folder.path / "result.bundle")
    shutil.copy(collected.files, folder.path / "files.tar")
    return folder


def test_the_diff_of_a_fleet_run_is_a_patch_that_git_applies(desk: Desk) -> None:
    fleet_run(desk)
    before = state(desk.project)
    done = rook_bytes("diff", "k7f3", env=desk.environment(), cwd=desk.project)
    assert done.returncode == 0, done.stderr
    assert b"+\x1b[31magent\n" in done.stdout
    assert state(desk.project) == before
    assert git(desk.project, "log", "-1", "--format=%s", "refs/rook/k7f3")
    patch = desk.home / "patch"
    patch.write_bytes(done.stdout)
    git(desk.project, "apply", "--check", str(patch))
    assert desk.rook("diff", "k7f3", "--name-only", "--", "sub").stdout == "sub/made.txt\n"
    assert "2 insertions" in desk.rook("diff", "k7f3", "--stat", "--", "a.txt", "sub").stdout


def test_on_a_terminal_what_the_agent_wrote_is_harmless(desk: Desk) -> None:
    fleet_run(desk)
    code, shown = desk.on_terminal("diff", "k7f3", "--no-pager", TERM="xterm")
    assert code == 0
    assert "+␛[31magent" in shown


def test_a_fleet_run_is_applied_committed_or_made_a_branch(desk: Desk) -> None:
    fleet_run(desk)
    done = desk.rook("apply", "k7f3", "--branch", "fix")
    assert (done.returncode, done.stderr) == (
        0,
        "[rook] made the branch fix with what k7f3 changed\n",
    )
    assert git(desk.project, "status", "--porcelain") == ""
    again = desk.rook("apply", "k7f3", "--branch", "fix")
    assert (again.returncode, again.stderr) == (
        2,
        "[rook] there is a branch 'fix' already: choose another name\n",
    )
    assert desk.rook("apply", "k7f3", "--branch", "a..b").returncode == 2
    done = desk.rook("apply", "k7f3", "--", "sub")
    assert (done.returncode, done.stdout) == (0, "  sub/made.txt\n")
    done = desk.rook("apply", "k7f3", "--commit")
    assert (done.returncode, done.stdout) == (0, "  .gitignore\n  a.txt\n")
    assert git(desk.project, "log", "-1", "--format=%s") == "Fix it\n"
    assert git(desk.project, "status", "--porcelain") == "?? sub/made.txt\n"
    done = desk.rook("apply", "k7f3")
    assert done.stderr == "[rook] nothing to apply: your files have what k7f3 changed\n"


def test_changes_of_the_user_are_not_overwritten(desk: Desk) -> None:
    fleet_run(desk)
    (desk.project / "a.txt").write_text("of the user\n")
    before = state(desk.project)
    done = desk.rook("apply", "k7f3")
    assert done.returncode == 2
    assert "commit or stash them first, or use --branch NAME" in done.stderr
    assert state(desk.project) == before


def test_files_outside_of_git_are_unpacked_on_request(desk: Desk) -> None:
    fleet_run(desk)
    done = desk.rook("apply", "k7f3", "--files")
    assert (done.returncode, done.stderr) == (0, "[rook] unpacked 1 file into k7f3/\n")
    assert (desk.project / "k7f3" / "noise.log").read_text() == "log\n"
    assert desk.rook("apply", "k7f3", "--files").returncode == 2
    assert desk.rook("apply", "k7f3", "--files", "--commit").returncode == 2


def test_a_run_and_a_loop_in_a_worktree_are_compared_and_applied(desk: Desk) -> None:
    install_agent(desk.programs, "--script-say=DONE", "--script-write-file=made.txt")
    assert desk.rook("run", "Do it", "--worktree").returncode == 0
    assert desk.rook("diff", "--name-only").stdout == "made.txt\n"
    assert desk.rook("apply").stdout == "  made.txt\n"
    assert (desk.project / "made.txt").exists()
    (desk.project / "made.txt").unlink()
    assert desk.rook("loop", "Do it", "--until", "DONE", "--worktree").returncode == 0
    (loop,) = (desk.home / "runs-home" / "loops").iterdir()
    assert desk.rook("diff", loop.name, "--name-only").stdout == "made.txt\n"
    assert desk.rook("apply", loop.name, "--branch", "work").returncode == 0
    assert git(desk.project, "ls-tree", "-r", "--name-only", "work").split() == [
        *("a.txt", "made.txt", "sub/b.txt"),
    ]
    git(desk.project, "fsck")


def test_what_cannot_be_compared_is_said_with_the_way_out(desk: Desk) -> None:
    home = desk.home / "runs-home"
    create_run(home, RunInfo(name="here", command=["claude"], cwd="/x", started_at=1.0))
    assert "worked in /x itself" in desk.rook("diff", "here").stderr
    folder = fleet_run(desk)
    (folder.path / "result.bundle").write_text("nonsense\n")
    assert "this is not a git bundle" in desk.rook("diff", "k7f3").stderr
    (folder.path / "result.bundle").unlink()
    assert "k7f3 is not over" in desk.rook("apply", "k7f3").stderr
    (folder.path / "verdict.json").write_text("{}")
    assert "k7f3 changed nothing" in desk.rook("apply", "k7f3").stderr
    (folder.path / "files.tar").unlink()
    assert "no files outside of git" in desk.rook("apply", "k7f3", "--files").stderr
    (folder.path / "repository.json").write_text("{}")
    assert "unexpected contents" in desk.rook("diff", "k7f3").stderr
    other = desk.home / "other"
    other.mkdir()
    fleet_run(desk, "m4x2")
    git(other, "init", "--quiet")
    done = rook_bytes("apply", "m4x2", env=desk.environment(), cwd=other)
    assert f"cd {desk.project}".encode() in done.stderr
