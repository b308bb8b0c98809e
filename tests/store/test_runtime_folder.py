"""The folder for sockets is private, wherever the system has a place for it."""

import os
import stat
from pathlib import Path

import pytest

from nightrook.model.errors import NightrookError
from nightrook.store import runtime_folder as folders
from nightrook.store.runtime_folder import runtime_folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def private(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True)
    return path


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runtime folder that the system gives the user."""
    path = private(tmp_path / "runtime")
    monkeypatch.setitem(os.environ, "XDG_RUNTIME_DIR", str(path))
    return path


def test_without_a_runtime_folder_it_is_in_the_home_of_runs(tmp_path: Path) -> None:
    assert runtime_folder(tmp_path / "home", environ={}) == tmp_path / "home" / "sockets"
    assert mode(tmp_path / "home" / "sockets") == 0o700


def test_a_runtime_folder_that_others_can_write_to_is_not_used(
    runtime: Path, tmp_path: Path
) -> None:
    runtime.chmod(0o777)
    assert runtime_folder(tmp_path / "home") == tmp_path / "home" / "sockets"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_runtime_folder_of_another_user_is_not_used(runtime: Path, tmp_path: Path) -> None:
    os.chown(runtime, 65534, 65534)
    assert runtime_folder(tmp_path / "home") == tmp_path / "home" / "sockets"


def test_a_link_in_the_place_of_the_folder_is_not_followed(runtime: Path, tmp_path: Path) -> None:
    (runtime / "nightrook").symlink_to(private(tmp_path / "elsewhere"))
    assert runtime_folder(tmp_path / "home") == tmp_path / "home" / "sockets"
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_where_paths_cannot_be_shortened_a_long_one_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ("x" * 120)
    monkeypatch.setattr(folders, "_SHARED", private(tmp_path / "shared"))
    short = runtime_folder(home, 103, {})
    assert short == tmp_path / "shared" / f"nightrook-{os.geteuid()}"
    assert mode(short) == 0o700
    with pytest.raises(NightrookError, match="set XDG_RUNTIME_DIR"):
        runtime_folder(home, 20, {})
