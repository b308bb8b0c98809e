"""Loops in repositories: commits and worktrees, and nothing but what the agent changed there."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightrook.loops.events import ToolStarted
from nightrook.loops.loop import ForeignChangesError
from nightrook.loops.plan import LoopPlan
from nightrook.loops.start import BadPlanError, new_loop, resumed_loop
from nightrook.runs.crash_recovery import settle
from nightrook.runs.git.repository import ChangedRepositoryError, Repository, find_repository
from nightrook.store.list import newest_first
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


def repo(work: Path) -> Repository:
    """The repository of a folder."""
    found = find_repository(str(work))
    assert found is not None
    return found


async def stopped_in_a_tool(asked: LoopPlan) -> str:
    async with new_loop(asked) as loop:
        async for event in loop:
            if isinstance(event, ToolStarted):
                loop.stop()
    assert loop.end == "interrupted"
    return loop.name


def test_each_iteration_can_be_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a write-file=a.txt", "say=DONE write-file=b.txt"], monkeypatch)
    repository(work)
    loop, _ = play(plan(work, commit=True))
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=work, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    assert log[:3] == ["Fix it.", "Fix it.", "Begin"]
    assert repo(work).uncommitted() == []
    last = subprocess.run(
        ["git", "log", "-1", "--format=%b%(trailers)"],
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    run = loop.state.attempts[1].report.run
    assert [line for line in last if line] == [
        "1 file changed:",
        "  b.txt",
        f"Iteration 2 of {loop.name}, made by rook (rook show {run}).",
    ]


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
    assert repo(work).uncommitted() == ["mine.txt"]


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
    (begun,) = list(newest_first(tmp_path / "home"))
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
    assert repo(tmp_path).commit(lambda _: "Add it").commit
    (tmp_path / "old.txt").unlink()
    assert repo(tmp_path).changed_after(0.0) == ["old.txt"]
    assert repo(tmp_path).changed_after(time.time() + 60) == []


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


def log(work: Path) -> list[str]:
    """The subjects of all commits, on every branch."""
    words = ["git", "log", "--all", "--format=%s"]
    return subprocess.run(words, cwd=work, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )[:-1]


def agent_does(folder: Path, command: str) -> None:
    """Make the agent run a command before it answers."""
    program = folder / "bin" / "claude"
    program.write_text(program.read_text().replace("exec ", f"{command}\nexec "))


@pytest.mark.parametrize(
    "command",
    [
        "echo gitdir: {other}/.git > .git",
        "rm .git; cp -r {other}/.git .git",
        "rm .git; ln -s {other}/.git .git",
        "echo {other}/.git > $(git rev-parse --git-dir)/commondir",
        "rm .git",
        "git checkout -q -b another",
        "git checkout -q --detach",
    ],
)
def test_an_agent_cannot_lead_a_commit_elsewhere(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE write-file=made.txt"], monkeypatch)
    other = tmp_path / "other"
    other.mkdir()
    repository(work)
    repository(other)
    agent_does(tmp_path, command.format(other=other))
    loop, _ = play(plan(work, commit=True, worktree=True))
    assert (loop.end, loop.exit_code) == ("not_started", 9)
    assert "nothing was committed" in loop.state.reason
    assert (log(other), log(work)) == (["Begin"], ["Begin"])
    with pytest.raises(ChangedRepositoryError, match="nothing was committed"):
        asyncio.run(to_the_end(resumed_loop(loop.name)))


def test_an_agent_cannot_replace_the_repository_by_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE write-file=made.txt"], monkeypatch)
    other = tmp_path / "other"
    other.mkdir()
    repository(work)
    repository(other)
    agent_does(tmp_path, f"rm -rf .git/refs; ln -s {other}/.git/refs .git/refs")
    loop, _ = play(plan(work, commit=True))
    assert (loop.end, log(other)) == ("not_started", ["Begin"])


def test_secrets_and_ignored_files_are_never_committed(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / ".gitignore").write_text("*.log\n")
    for name in (".env", "a/.env.local", ".env.example", "x.log", "old.log", "kept"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    force = ["git", "add", "--force", ".env", "x.log"]  # as an agent could
    subprocess.run(force, cwd=tmp_path, check=True)
    done = repo(tmp_path).commit(lambda _: "Add it")
    assert done.left_out == (".env", "x.log", "a/.env.local")
    assert committed(tmp_path) == [".env.example", ".gitignore", "kept"]
    assert repo(tmp_path).uncommitted() == []
    assert repo(tmp_path).commit(lambda _: "Again").commit is None


def test_odd_names_are_committed_as_they_are(tmp_path: Path) -> None:
    repository(tmp_path)
    names = [":(top)x", "*", "-f", "a\nb", "ü", os.fsdecode(b"\xff")]
    for name in names:
        (tmp_path / name).write_text("x")
    done = repo(tmp_path).commit(lambda _: "Add them")
    assert done.commit
    assert done.left_out == ()
    assert repo(tmp_path).uncommitted() == []


def test_a_commit_that_fails_ends_the_loop_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE write-file=made.txt"], monkeypatch)
    repository(work)
    agent_does(tmp_path, "touch .git/index.lock")
    loop, _ = play(plan(work, commit=True))
    assert (loop.end, loop.exit_code) == ("not_started", 9)
    assert "index.lock" in loop.state.reason
    assert loop.state.attempts[0].report.run
