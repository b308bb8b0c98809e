"""The sockets of runners: made private, reached by a short path, removed with their runner."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from stat import S_ISSOCK

from nightrook.model.errors import UnsafeRunError
from nightrook.process.systems.this_system import system
from nightrook.store.files import explained
from nightrook.store.runtime_folder import private_folder, runtime_folder

_SUFFIX = ".sock"
_NEW = ".new"
_RANDOM_BYTES = 6
_LONGEST_PATH = 103  # on macOS; Linux has room for four bytes more
_BACKLOG = 64
_MODE = 0o600
_MOST_PROBED = 64


def listen(home: Path) -> tuple[socket.socket, Path]:
    """Make a socket that listens, and return it with its path; `release` removes it."""
    name = f"{os.urandom(_RANDOM_BYTES).hex()}{_SUFFIX}"
    is_shortened = system.short_path(0, name) is not None
    folder = runtime_folder(home, None if is_shortened else _LONGEST_PATH - len(f"/{name}"))
    path = folder / name
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with private_folder(folder) as fd:
            _remove_stale(fd, folder)
            with suppress(OSError):  # not every system can set it before there is a file
                os.fchmod(server.fileno(), _MODE)
            _bind(server, fd, path)
        server.setblocking(False)
    except BaseException:
        server.close()
        raise
    return server, path


def release(server: socket.socket, path: Path) -> None:
    """Close a socket and remove its file."""
    server.close()
    with suppress(OSError):
        path.unlink()


def connect(path: Path, timeout_s: float) -> socket.socket:
    """Connect to the socket of a runner, if its folder and the socket are private.

    ConnectionError or FileNotFoundError says that nobody listens.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(timeout_s)
    try:
        with private_folder(path.parent) as fd:
            found = os.stat(path.name, dir_fd=fd, follow_symlinks=False)
            # guards: no-linked-socket
            if not S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
                raise UnsafeRunError(str(path), "is not a socket of yours")
            client.connect(_short(fd, path))
    except BaseException:
        client.close()
        raise
    return client


def _bind(server: socket.socket, folder: int, path: Path) -> None:
    """Give a socket its file: under its name, it listens from the first moment."""
    new = path.with_suffix(_NEW)
    with explained(path):
        server.bind(_short(folder, new))
        os.chmod(new.name, _MODE, dir_fd=folder)  # guards: private-socket
        server.listen(_BACKLOG)
        os.rename(new.name, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def _short(folder: int, path: Path) -> str:
    """A path that fits into the address of a socket."""
    return system.short_path(folder, path.name) or str(path)


def _remove_stale(folder: int, path: Path) -> None:
    """Remove sockets that runners left behind when they were killed."""
    names = [name for name in os.listdir(folder) if name.endswith(_SUFFIX)]
    for name in names[:_MOST_PROBED]:
        with suppress(OSError):
            is_socket = S_ISSOCK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            if is_socket and _is_left_behind(folder, path / name):  # guards: abandoned-sockets-only
                os.unlink(name, dir_fd=folder)


def _is_left_behind(folder: int, path: Path) -> bool:
    """True if no process listens at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(_short(folder, path))
        except ConnectionRefusedError:
            return True
        except OSError:  # its queue is full: somebody does
            return False
    return False
