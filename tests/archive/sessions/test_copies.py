"""Copies of sessions: the oldest are removed, and links are left alone."""

import os
from pathlib import Path

from nightrook.archive.search.forgetting import to_forget
from nightrook.archive.sessions.copies import kept_copies, remove_copies
from nightrook.archive.sessions.reader import COPY


def make_copy(home: Path, name: str, at: float) -> Path:
    path = home / "kept" / "claude" / "-work" / f"{name}.jsonl{COPY}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * 100)
    os.utime(path, (at, at))
    return path


def test_the_oldest_copies_are_removed(tmp_path: Path) -> None:
    old, new = make_copy(tmp_path, "old", 10.0), make_copy(tmp_path, "new", 20.0)
    found = kept_copies(tmp_path)
    assert [copy.path for copy in found] == [new, old]
    remove_copies(to_forget(found, before=15.0, most=None))
    assert (old.exists(), new.exists()) == (False, True)


def test_links_are_neither_followed_nor_removed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / f"precious{COPY}").write_bytes(b"x")
    make_copy(tmp_path, "old", 10.0)
    (tmp_path / "kept" / "codex").symlink_to(victim)
    link = tmp_path / "kept" / f"link{COPY}"
    link.symlink_to(victim / f"precious{COPY}")
    assert len(kept_copies(tmp_path)) == 1
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept").symlink_to(victim)
    assert kept_copies(tmp_path / "other") == []
