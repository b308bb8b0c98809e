"""A run in a git worktree of its own."""

import asyncio
import subprocess
from pathlib import Path

import pytest

import nightrook
from nightrook.model.errors import NightrookError
from nightrook.runs.git.git_command import GitError
from nightrook.runs.run import Run
from nightrook.store.list import find_run
from tests.loops.playing import install, repository


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_run_with_a_worktree_leaves_your_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(
        tmp_path, ["say=ok write-file=new.txt", "say=ok write-file=more.txt"], monkeypatch
    )
    repository(work)
    (work / "sub").mkdir()
    done = nightrook.run_sync("claude", "Write it", cwd=work / "sub", worktree=True)
    assert done.exit_code == 0
    top = tmp_path / "home" / "worktrees" / done.name
    assert done.cwd == str(top / "sub")
    assert (top / "sub" / "new.txt").exists()
    assert list((work / "sub").iterdir()) == []
    assert git(top, "branch", "--show-current") == f"rook/{done.name}"
    info = find_run(tmp_path / "home", done.name).info()
    assert info is not None
    assert (info.worktree, info.cwd) == (str(top), done.cwd)
    again = nightrook.run_sync("claude", "Go on", resume=done.name)
    assert (again.cwd, (top / "sub" / "more.txt").exists()) == (done.cwd, True)


def test_a_worktree_is_made_when_the_run_starts_and_runs_no_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=ok"], monkeypatch)
    repository(work)
    hook = work / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\ntouch ../hooked\n")
    hook.chmod(0o755)
    made = nightrook.run("claude", "Write it", cwd=work, worktree=True)
    assert not Path(made.cwd).exists()

    async def whole(run: Run) -> None:
        async with run:
            assert Path(run.cwd).is_dir()
            await run.wait()

    asyncio.run(whole(made))
    assert list(tmp_path.rglob("hooked")) == []


def test_without_a_repository_or_with_a_resumed_run_there_is_no_worktree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=ok"], monkeypatch)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(GitError, match="isn't in a git repository: leave out --worktree"):
        nightrook.run("claude", "Write it", cwd=work, worktree=True)
    done = nightrook.run_sync("claude", "Write it", cwd=work)
    with pytest.raises(NightrookError, match="continues in the folder of its session"):
        nightrook.run("claude", "Write it", cwd=work, worktree=True, resume=done.name)
    assert not (tmp_path / "home" / "worktrees").exists()
