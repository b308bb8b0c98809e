"""Which homes are searched, and what of them cannot be."""

import os
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.archive.places import Search, user_homes
from nightrook.config.files import user_folder


def test_the_setting_archive_roots_adds_homes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    user_folder().mkdir(parents=True)
    (user_folder() / "rook.toml").write_text('[archive]\nroots = ["/old/home"]\n')
    assert user_homes() == (tmp_path, Path("/old/home"))


def test_links_and_variables_that_lead_where_nothing_may_be_read_are_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects, closed = tmp_path / "home" / ".claude" / "projects", tmp_path / "closed"
    (projects / "app").mkdir(parents=True)
    (projects / "app" / "s.jsonl").write_text("{}")
    closed.mkdir()
    (projects / "link").symlink_to(closed)
    real = Path.stat

    def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if follow_symlinks and os.path.realpath(path) == str(closed):  # root could read any folder
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, follow_symlinks=follow_symlinks)

    search = Search([agents.history("claude")])
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", stat)
        found = list(search.homes([tmp_path / "home"], {"CLAUDE_CONFIG_DIR": str(closed)}))
    assert [file.below for file in found] == ["app/s.jsonl"]
    assert search.problems == {str(projects / "link"): ("claude", "Permission denied")}
