"""Where settings, runs and copies are kept."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from nightrook.user_folders import (
    cache_folder,
    data_folder,
    folder,
    rename_commands,
    settings_folder,
)

DATA = ("XDG_DATA_HOME", ".local/share", "Library/Application Support")


@pytest.mark.skipif(sys.platform == "darwin", reason="they are in the library there")
def test_each_kind_has_its_folder_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    for kind in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    assert settings_folder() == Path("/home/dev/.config/nightrook")
    assert data_folder() == Path("/home/dev/.local/share/nightrook")
    assert cache_folder() == Path("/home/dev/.cache/nightrook")


def test_each_kind_has_a_variable_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", f"/xdg/{kind.lower()}")
    found = [str(each()) for each in (settings_folder, data_folder, cache_folder)]
    assert found == ["/xdg/config/nightrook", "/xdg/data/nightrook", "/xdg/cache/nightrook"]


@pytest.mark.parametrize("named", ["", "data", "./data", "~/data"])
def test_a_variable_without_an_absolute_path_is_passed_over(named: str) -> None:
    environ = {"HOME": "/home/dev", "XDG_DATA_HOME": named}
    assert folder(*DATA, environ=environ, system="linux") == Path(
        "/home/dev/.local/share/nightrook"
    )


def test_on_macos_the_folders_are_in_the_library() -> None:
    found = folder(*DATA, environ={"HOME": "/Users/dev"}, system="darwin")
    assert found == Path("/Users/dev/Library/Application Support/nightrook")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "here"}])
def test_without_a_home_in_the_environment_the_system_is_asked(environ: dict[str, str]) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert folder(*DATA, environ=environ, system="linux") == home / ".local/share/nightrook"


def test_a_user_whom_the_system_does_not_know_has_the_root_as_home(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    found = folder(*DATA, environ={}, system="linux")
    assert found == Path("/.local/share/nightrook")


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that an earlier version was used in, under the project's earlier name."""
    for kind in ("config", "data", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    (tmp_path / "data/rookery/runs").mkdir(parents=True)
    (tmp_path / "config/rookery").mkdir(parents=True)
    (tmp_path / "config/rookery/rookery.toml").write_text("max_cost = 2\n")
    return tmp_path


def test_the_commands_that_keep_what_an_earlier_name_had_are_printed_once(earlier: Path) -> None:
    found = rename_commands()
    for command in found:
        subprocess.run(command, shell=True, check=True)
    assert (data_folder() / "runs").is_dir()
    assert (settings_folder() / "rook.toml").read_text() == "max_cost = 2\n"
    assert len(found) == 3

    for new, old in ((data_folder(), "data"), (settings_folder(), "config")):
        new.rename(earlier / old / "rookery")
    assert rename_commands() == []


def test_nothing_is_suggested_beside_a_folder_that_is_in_use(earlier: Path) -> None:
    data_folder().mkdir()
    assert rename_commands() == []


def test_the_folders_of_another_program_of_that_name_are_left_alone(earlier: Path) -> None:
    (earlier / "data/rookery/runs").rmdir()
    (earlier / "config/rookery/rookery.toml").rename(earlier / "config/rookery/config.yaml")
    assert rename_commands() == []
