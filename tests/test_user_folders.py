"""Where settings, runs and copies are kept."""

import os
import pwd
import sys
from pathlib import Path

import pytest

from nightrook.user_folders import cache_folder, data_folder, folder, settings_folder

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
