"""Git in a repository that names a program wherever it can: none of them ever runs."""

import os
import subprocess
from pathlib import Path

import pytest

from nightrook.loops.changed_files import Snapshots
from nightrook.runs.git.git_command import GitError, ask, do
from nightrook.runs.git.repository import add_worktree, find_repository, is_ignored
from tests.loops.playing import install, plan, play, repository

HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-auto-gc"),
    *("post-checkout", "post-index-change", "reference-transaction", "post-rewrite"),
    *("fsmonitor-watchman", "pre-merge-commit", "post-merge", "applypatch-msg", "update"),
)
PROGRAMS = (
    *("core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass"),
    *("core.alternateRefsCommand", "core.gitProxy", "sequence.editor", "interactive.diffFilter"),
    *("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"),
    *("filter.evil.clean", "filter.evil.smudge", "filter.other=one.process"),
    *("filter.Sub.Name.clean", "filter.Sub.Name.smudge"),
    *("diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver"),
    *("pager.status", "pager.diff", "gc.recentObjectsHook", "uploadpack.packObjectsHook"),
    *("remote.evil.uploadpack", "remote.evil.vcs", "trailer.evil.command"),
)
ALIASES = ("add", "commit", "config", "diff", "rev-parse", "status", "worktree", "write-tree")
SETTINGS = {
    "commit.gpgSign": "true",
    "gpg.format": "openpgp",
    "user.signingKey": "evil",
    "filter.evil.required": "true",
    "gc.auto": "1",
    "gc.autoDetach": "false",
    "maintenance.auto": "true",
    "commit.verbose": "true",
    "log.showSignature": "true",
    "protocol.ext.allow": "always",
    "remote.evil.promisor": "true",
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "evil",
    "submodule.recurse": "true",
    "hook.evil.event": "post-commit",
}
ATTRIBUTES = (
    "*.txt filter=evil diff=evil merge=evil\n*.bin filter=other=one\n*.md filter=Sub.Name\n"
)


class Hostile:
    """A repository whose settings, hooks and attributes lead to programs that leave marks."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "hostile"
        self.marks = folder / "marks"
        self.marks.mkdir()
        self.work.mkdir()
        repository(self.work)
        (self.work / "a.txt").write_text("a\n")
        (self.work / "b.bin").write_text("b\n")
        (self.work / "c.md").write_text("c\n")
        (self.work / "plain").write_text("p\n")
        self._git("add", "--all")
        self._git("commit", "-qm", "Add files")
        self._configure()

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.work, check=True, capture_output=True)

    def program(self, name: str) -> str:
        """A program that leaves a mark with its name, and passes its input on."""
        path = self.marks.parent / "programs" / name.replace("=", "-")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n: > '{self.marks}/{path.name}'\nexec cat\n")
        path.chmod(0o755)
        return str(path)

    def _configure(self) -> None:
        included = self.marks.parent / "included.config"
        for name in PROGRAMS:
            where = included if name.startswith(("diff.", "filter.Sub")) else ".git/config"
            self._git("config", "--file", str(where), name, self.program(name))
        for name in ALIASES:
            self._git("config", f"alias.{name}", f"!{self.program(f'alias.{name}')}")
        for name, value in SETTINGS.items():
            self._git("config", name, value)
        self._git("config", "hook.evil.command", self.program("hook.evil"))
        self._git("config", "credential.helper", f"!{self.program('credential')}")
        self._git("config", "remote.evil.url", f"ext::{self.program('ext')} %S x")
        self._git("config", "include.path", str(included))
        hooks = self.marks.parent / "hooks"
        hooks.mkdir()
        for name in HOOKS:
            os.symlink(self.program(f"hook.{name}"), self.work / ".git" / "hooks" / name)
            os.symlink(self.program(f"hook.{name}"), hooks / name)
        self._git("config", "core.hooksPath", str(hooks))
        (self.work / ".git" / "info" / "attributes").write_text(ATTRIBUTES)

    def edit(self) -> None:
        """Change every file without changing its size, so that git must read them."""
        for name in ("a.txt", "b.bin", "c.md", "plain"):
            path = self.work / name
            path.write_text(chr(ord(path.read_text()[0]) + 1) + "\n")
            os.utime(path, (1, 1))

    @property
    def marked(self) -> list[str]:
        """The programs that ran."""
        return sorted(os.listdir(self.marks))


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


def test_the_programs_would_run_without_our_care(hostile: Hostile) -> None:
    hostile.edit()
    words = ["git", "-c", "gpg.program=true", "commit", "-qam", "x"]
    subprocess.run(words, cwd=hostile.work, check=False, capture_output=True)
    ran = {"core.fsmonitor", "filter.evil.clean", "filter.other-one.process"}
    assert ran <= set(hostile.marked)
    assert any(name.startswith("hook.") for name in hostile.marked)


def test_no_program_runs_whatever_git_is_asked_for(hostile: Hostile, tmp_path: Path) -> None:
    found = find_repository(str(hostile.work))
    assert found is not None
    snapshots = Snapshots(found, tmp_path / "kept")
    before = snapshots.take()
    assert before is not None
    hostile.edit()
    change = snapshots.change(before)
    assert (change.files if change else None) == 4
    assert found.uncommitted() == ["plain"]
    assert found.changed_after(0.0) == ["plain"]
    done = found.commit(lambda _: "Change it")
    assert done.commit is not None
    assert done.left_out == ("a.txt", "b.bin", "c.md")
    assert not is_ignored(str(hostile.work))
    found.require_unchanged(str(hostile.work))
    add_worktree(str(hostile.work), tmp_path / "tree", "rook/x")
    assert (tmp_path / "tree" / "a.txt").read_text() == "a\n"
    assert ask(str(hostile.work), "cat-file", "-e", "1" * 40) is None  # not fetched either
    assert hostile.marked == []


def test_no_program_runs_during_a_loop(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    install(hostile.work.parent, ["say=a write-file=made", "say=DONE"], monkeypatch)
    loop, _ = play(plan(hostile.work, commit=True))
    assert (loop.end, [bool(a.commit) for a in loop.state.attempts]) == ("done", [True, False])
    loop, _ = play(plan(hostile.work, commit=True, worktree=True))
    assert loop.end == "done"
    assert hostile.marked == []


def test_no_program_of_a_submodule_runs(hostile: Hostile, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    repository(outer)
    hostile.work.rename(outer / "inner")
    hostile.work = outer / "inner"
    subprocess.run(["git", "add", "inner"], cwd=outer, check=True, capture_output=True)
    subprocess.run(["git", "commit", "-qm", "x"], cwd=outer, check=True, capture_output=True)
    for mark in hostile.marks.iterdir():
        mark.unlink()
    hostile.edit()
    (outer / "other").touch()
    found = find_repository(str(outer))
    assert found is not None
    assert Snapshots(found, tmp_path / "kept").take() is not None
    assert found.commit(lambda _: "Change it").commit is not None
    assert hostile.marked == []


def test_variables_do_not_lead_git_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "rook.test")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "kept")
    assert find_repository(str(tmp_path)) is not None
    assert ask(str(tmp_path), "config", "rook.test") == "kept\n"


def test_a_command_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    with pytest.raises(GitError, match="git commit failed: "):
        do(str(tmp_path), "commit", "--no-such-option")
    assert ask(str(tmp_path / "gone"), "status") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git status failed: "):
        do(str(tmp_path), "status")
