"""Which agents and homes are searched for stored sessions, and what of them cannot be."""

import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from nightrook import agents
from nightrook.archive import session_files
from nightrook.archive.session_files import Search, may_add, user_homes
from nightrook.user_folders import settings_folder


def test_the_setting_archive_roots_adds_homes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings_folder().mkdir(parents=True)
    (settings_folder() / "rook.toml").write_text('[archive]\nroots = ["/old/home"]\n')
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


GROUP = "nightrook.histories"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path of modules."""
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "missing")])
    session_files._may_add.cache_clear()
    return tmp_path


def _package(folder: Path, name: str, points: str | None) -> None:
    folder.joinpath(name).mkdir()
    if points is not None:
        folder.joinpath(name, "entry_points.txt").write_text(points)


def test_packages_that_add_other_things_add_nothing_here(path: Path) -> None:
    _package(path, "plain-1.0.dist-info", None)
    _package(path, "command-1.0.dist-info", "[console_scripts]\ncommand = command:main\n")
    path.joinpath("old.egg-info").write_text("Name: old\n")
    assert not may_add(GROUP)


@pytest.mark.parametrize("name", ["some-1.0.dist-info", "some.egg-info"])
def test_a_package_with_the_group_may_add_something(path: Path, name: str) -> None:
    _package(path, name, f"[console_scripts]\nx = x:y\n\n[{GROUP}]\nsome = some:HISTORY\n")
    assert may_add(GROUP)


def test_packages_in_archives_may_add_something(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = path / "packages.zip"
    ZipFile(archive, "w").close()
    monkeypatch.setattr("sys.path", [str(archive)])
    assert may_add(GROUP)


def test_eggs_may_add_something(path: Path) -> None:
    path.joinpath("some-1.0-py3.11.egg").mkdir()
    assert may_add(GROUP)
