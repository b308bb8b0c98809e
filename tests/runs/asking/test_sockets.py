"""The sockets of runners are private, and nothing that was planted is used."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.model.errors import UnsafeRunError
from nightrook.process.systems.this_system import system
from nightrook.runs.asking.sockets import connect, listen, release

long_paths = pytest.mark.skipif(
    system.short_path(0, "x") is None, reason="paths of tests are too long for sockets here"
)


@pytest.fixture
def no_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


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


def left(path: Path) -> Path:
    """A socket that nobody listens at, as a killed runner leaves it."""
    with socket.socket(socket.AF_UNIX) as dead:
        fd = os.open(path.parent, os.O_RDONLY)
        dead.bind(f"/proc/self/fd/{fd}/{path.name}")
        os.close(fd)
    return path


@long_paths
@pytest.mark.usefixtures("no_mask")
def test_a_socket_is_private_under_any_umask(runtime: Path, tmp_path: Path) -> None:
    server, path = listen(tmp_path)
    assert path.parent == runtime / "nightrook"
    assert (mode(path.parent), mode(path)) == (0o700, 0o600)
    release(server, path)
    assert [*path.parent.iterdir()] == []


@long_paths
def test_a_folder_that_is_open_to_others_is_closed(runtime: Path, tmp_path: Path) -> None:
    (runtime / "nightrook").mkdir(mode=0o755)
    server, path = listen(tmp_path)
    assert mode(path.parent) == 0o700
    release(server, path)


@long_paths
def test_a_long_path_is_no_problem(tmp_path: Path) -> None:
    home = tmp_path / ("x" * 120)
    server, path = listen(home)
    assert len(str(path)) > 107
    assert path.is_relative_to(home)
    connect(path, 5.0).close()
    release(server, path)


def test_what_killed_runners_left_is_removed_and_nothing_else(
    runtime: Path, tmp_path: Path
) -> None:
    first, path = listen(tmp_path)
    dead = left(path.with_name("dead.sock"))
    plain = path.with_name("plain.sock")
    plain.write_text("mine")
    link = path.with_name("link.sock")
    link.symlink_to(path)
    second, other = listen(tmp_path)
    assert {*path.parent.iterdir()} == {path, other, plain, link}
    assert not dead.exists()
    connect(path, 5.0).close()
    release(first, path)
    release(second, other)
    assert runtime.exists()


def test_a_link_to_a_socket_is_not_connected_to(runtime: Path, tmp_path: Path) -> None:
    server, path = listen(tmp_path)
    link = path.with_name("link.sock")
    link.symlink_to(path)
    with pytest.raises(UnsafeRunError, match="is not a socket of yours"):
        connect(link, 5.0)
    release(server, path)
    assert runtime.exists()


def test_a_socket_in_an_open_folder_is_not_connected_to(runtime: Path, tmp_path: Path) -> None:
    server, path = listen(tmp_path)
    path.parent.chmod(0o755)
    with pytest.raises(UnsafeRunError, match="is open to other users"):
        connect(path, 5.0)
    release(server, path)
    assert runtime.exists()


def test_a_socket_that_nobody_listens_at_refuses(runtime: Path) -> None:
    with pytest.raises(ConnectionRefusedError):
        connect(left(private(runtime / "nightrook") / "dead.sock"), 5.0)
