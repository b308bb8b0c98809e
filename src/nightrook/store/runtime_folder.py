"""The folder for the sockets of runners, which no other user can enter."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE

from nightrook.model.errors import NightrookError, UnsafeRunError
from nightrook.store.files import Folder, explained

_NAME = "nightrook"
_IN_HOME = "sockets"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = 0o077
_WRITABLE_BY_OTHERS = 0o022
_SHARED = Path("/tmp")


def runtime_folder(
    home: Path, longest: int | None = None, environ: Mapping[str, str] = os.environ
) -> Path:
    """The folder for sockets, which is made if it is missing; in `home` if the system has none.

    `longest` is how many bytes its path may have.
    """
    for parent, name in _places(home, environ):
        if longest is None or len(os.fsencode(parent / name)) <= longest:
            with suppress(NightrookError), Folder.made(parent) as above, above.own(name) as folder:
                return folder.path
    raise NightrookError(
        f"there is no private folder for the socket of a run, not even in {home}: "
        "set XDG_RUNTIME_DIR to one"
    )


@contextmanager
def private_folder(path: Path) -> Iterator[int]:
    """The descriptor of a folder of ours, while the block lasts; any other is refused."""
    with explained(path):
        fd = os.open(path, _OPEN)
    try:
        found = os.fstat(fd)
        if found.st_uid != os.geteuid():
            raise UnsafeRunError(str(path), f"belongs to user {found.st_uid}, not to you")
        if S_IMODE(found.st_mode) & _OTHERS:  # guards: private-socket-folder
            raise UnsafeRunError(str(path), "is open to other users")
        yield fd
    finally:
        os.close(fd)


def _places(home: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the possible places of the folder, the best first."""
    named = [environ.get("XDG_RUNTIME_DIR"), f"/run/user/{os.geteuid()}"]
    if sys.platform == "darwin":
        named.append(environ.get("TMPDIR"))
    for path in (Path(name) for name in named if name):
        if path.is_absolute() and _is_ours(path):  # guards: runtime-folder-ours
            yield path, _NAME
    yield home, _IN_HOME
    yield _SHARED, f"{_NAME}-{os.geteuid()}"


def _is_ours(path: Path) -> bool:
    """True if a folder belongs to us, and no other user can put anything into it."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not S_IMODE(found.st_mode) & _WRITABLE_BY_OTHERS
