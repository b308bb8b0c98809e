"""Loops in repositories: what changed, commits and worktrees."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rookery.loops.changes import git
from rookery.loops.driver import ForeignChangesError
from rookery.loops.events import (
    IterationFinished,
    ToolStarted,
)
from rookery.loops.plan import LoopPlan
from rookery.loops.start import BadPlanError, new_loop, resumed_loop
from rookery.runs.heal import settle
from rookery.store import runs
from tests.loops.playing import CHILD, install, plan, play, repository, to_the_end


def committed(work: Path) -> list[str]:
    """All files that are in the last commit."""
    told = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"],
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    )
    return told.stdout.split()


async def stopped_in_a_tool(asked: LoopPlan) -> str:
    async with new_loop(asked) as loop:
        async for event in loop:
            if isinstance(event, ToolStarted):
                loop.stop()
    assert loop.end == "interrupted"
    return loop.name


def test_git_reports_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a write-file=new.txt", "say=DONE"], monkeypatch)
    repository(work)
    loop, events = play(plan(work))
    ended = [event for event in events if isinstance(event, IterationFinished)]
    assert [event.files for event in ended] == [1, 0]
    assert loop.end == "done"


def test_each_iteration_can_be_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a write-file=a.txt", "say=DONE write-file=b.txt"], monkeypatch)
    repository(work)
    loop, _ = play(plan(work, commit=True))
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=work, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    assert log[:3] == [f"rook {loop.name}: iteration 2", f"rook {loop.name}: iteration 1", "Begin"]
    assert git.is_clean(str(work))


def test_a_commit_never_includes_earlier_changes_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    repository(work)
    (work / "mine.txt").write_text("mine")
    with pytest.raises(BadPlanError, match="not committed"):
        new_loop(plan(work, commit=True))
    loop, _ = play(plan(work, commit=True, worktree=True))
    assert loop.end == "done"
    assert (work / "mine.txt").read_text() == "mine"
    assert not git.is_clean(str(work))


def test_a_resumed_loop_never_commits_what_the_user_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["hang-in-tool", "say=DONE write-file=made.txt"], monkeypatch)
    repository(work)
    name = asyncio.run(stopped_in_a_tool(plan(work, commit=True)))
    (work / "mine.txt").write_text("mine")
    with pytest.raises(ForeignChangesError, match=rf"mine\.txt; .* --resume {name}"):
        asyncio.run(to_the_end(resumed_loop(name)))
    (work / "mine.txt").unlink()
    loop = asyncio.run(to_the_end(resumed_loop(name)))  # the refusal has changed nothing
    assert (loop.end, committed(work)) == ("done", ["made.txt"])


def test_what_a_cut_off_run_changed_is_committed_and_what_came_later_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["write-file=half.txt hang-in-tool", "say=DONE"], monkeypatch)
    repository(work)
    name = new_loop(plan(work, commit=True)).name
    child = subprocess.Popen([sys.executable, "-c", CHILD, name], stdout=subprocess.DEVNULL)
    while not (work / "half.txt").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    (begun,) = runs.runs(tmp_path / "home")
    settle(begun)
    (work / "mine.txt").write_text("mine")
    with pytest.raises(ForeignChangesError, match=r"agent's: mine\.txt;"):
        asyncio.run(to_the_end(resumed_loop(name)))
    (work / "mine.txt").unlink()
    loop = asyncio.run(to_the_end(resumed_loop(name)))
    assert (loop.end, committed(work)) == ("done", ["half.txt"])


def test_a_file_that_the_user_removed_counts_as_a_change(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "old.txt").write_text("x")
    assert git.commit(str(tmp_path), "Add it")
    (tmp_path / "old.txt").unlink()
    assert git.changed_after(str(tmp_path), 0.0) == ["old.txt"]
    assert git.changed_after(str(tmp_path), time.time() + 60) == []


def test_a_worktree_keeps_the_agent_away_from_the_user_s_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE write-file=made.txt"], monkeypatch)
    repository(work)
    loop, _ = play(plan(work, worktree=True))
    assert not (work / "made.txt").exists()
    assert (loop.folder.path / "worktree" / "made.txt").exists()


def test_commits_need_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(BadPlanError, match="isn't in a git repository"):
        new_loop(plan(work, commit=True))
