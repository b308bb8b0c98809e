"""Private files: only for their owner, replaced in one step, never reached through a link."""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG

from nightrook.model.errors import DamagedRunError, RunFolderError, UnsafeRunError

_FOLDER_MODE = 0o700  # guards: private-folders
_FILE_MODE = 0o600  # guards: private-files
_MOST = 256 * 1024 * 1024  # of a file that is read whole; a long prompt is far smaller
_CHUNK = 1024 * 1024
_GLANCE = 64 * 1024
_TEMPORARY = ".tmp"

MISSING = "is missing"
"""Problem with a file that is not there."""

# O_NONBLOCK: a pipe or a device in place of a file must not block.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_READ = _OPEN | os.O_NOFOLLOW  # guards: read-no-link
# guards: new-file-is-new
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# guards: append-no-link
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_NO_SYNC = (errno.EINVAL, errno.EBADF)  # from a system that cannot sync a folder
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_IN_THE_WAY = {
    errno.ELOOP: "is a link",
    errno.EMLINK: "is a link",  # as some systems say it
    errno.ENOTDIR: "is a link, or not a folder",
    errno.EISDIR: "is a folder",
    errno.ENXIO: "is not a plain file",
}


class Folder:
    """An open folder; whatever is done in it stays in it, even if its path is moved meanwhile."""

    def __init__(self, fd: int, path: Path) -> None:
        self._fd = fd
        self.path = path

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    @classmethod
    def at(cls, path: Path, *names: str) -> "Folder | None":
        """Open a folder, and in it, by their names, those of ours below it; None if one is missing.

        Links may lead to the path, but not to what is below it.
        """
        with explained(path):
            try:
                folder: Folder | None = cls(os.open(path, _OPEN | os.O_DIRECTORY), path)
            except FileNotFoundError:
                return None
        for name in names:
            if folder is not None:
                with folder:
                    folder = folder.open(name)
        return folder

    @classmethod
    def kept(cls, path: Path) -> "Folder":
        """Open the folder of a run, a loop or the like in its home; an error if it is gone."""
        kind = path.parent
        folder = cls.at(kind.parent, kind.name, path.name)
        if folder is None:
            raise RunFolderError(str(path), "no longer exists")
        return folder

    @classmethod
    def made(cls, path: Path) -> "Folder":
        """Open a folder; it and what is missing above it are made, for us alone."""
        folder = cls.at(path)
        if folder is not None:
            return folder
        with cls.made(path.parent) as above:
            return above.own(path.name)

    def open(self, name: str) -> "Folder | None":
        """Open a folder of ours in this one; None if there is none, refused if it is a link."""
        path = self.path / name
        with explained(path):
            try:
                fd = os.open(name, _READ | os.O_DIRECTORY, dir_fd=self._fd)
            except FileNotFoundError:
                return None
            owner = os.fstat(fd).st_uid
        if owner != os.geteuid():  # guards: folder-of-other-user
            os.close(fd)
            raise UnsafeRunError(str(path), f"belongs to user {owner}, not to you")
        return Folder(fd, path)

    def own(self, name: str) -> "Folder":
        """Open a folder of ours in this one, made if it is missing and closed to all others."""
        self.make(name)
        folder = self.open(name)
        if folder is None:
            raise RunFolderError(str(self.path / name), "was removed meanwhile")
        with explained(folder.path):
            _set_mode(folder._fd, _FOLDER_MODE)  # guards: open-folder-closed
        return folder

    def make(self, name: str) -> bool:
        """Make a folder in this one; False if something is there already, be it a mere link."""
        with explained(self.path / name):
            try:
                os.mkdir(name, _FOLDER_MODE, dir_fd=self._fd)
            except FileExistsError:
                return False
            made = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
            if S_ISDIR(made.st_mode) and S_IMODE(made.st_mode) & _FOLDER_MODE != _FOLDER_MODE:
                os.chmod(name, _FOLDER_MODE, dir_fd=self._fd)  # a umask locked us out
            _sync(self._fd)  # guards: new-folder-synced
            return True

    def move(self, name: str, to: "Folder", new: str) -> bool:
        """Move a folder of this one, in one step; False if that name is taken, be it by a link."""
        with explained(to.path / new):
            try:
                os.rename(name, new, src_dir_fd=self._fd, dst_dir_fd=to._fd)
            except OSError as error:
                if error.errno in _TAKEN:
                    return False
                raise
            _sync(to._fd)  # guards: moved-folder-synced
            return True

    def discard(self, name: str) -> None:
        """Remove a file, if there is one and that is possible."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Remove a folder in this one with all that is in it, if that is possible."""
        import shutil  # slow to import, and lists and reports remove nothing

        shutil.rmtree(name, ignore_errors=True, dir_fd=self._fd)

    def folders(self) -> list[str]:
        """The names of the folders in this one, without links."""
        with explained(self.path), os.scandir(self._fd) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]

    def replace(self, name: str, data: bytes) -> None:
        """Write a file in one step: a reader always finds the old or the new content, whole."""
        with explained(self.path / name):
            _holds(self._fd, self.path / name)
            with _written(self._fd, self.path / name, data) as temporary:
                os.replace(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
            _sync(self._fd)

    def create(self, name: str, data: bytes) -> bool:
        """Write a file in one step; False, and nothing is changed, if there is one already."""
        with explained(self.path / name):
            if _holds(self._fd, self.path / name):
                return False
            with _written(self._fd, self.path / name, data) as temporary:
                made = _link(self._fd, temporary, self.path / name)
            _sync(self._fd)
            return made

    def append(self, name: str) -> int:
        """Open a file to append to, made if it is missing; the descriptor is the caller's."""
        with explained(self.path / name):
            try:
                return _new(self._fd, name, os.O_APPEND)
            except FileExistsError:
                return _plain(os.open(name, _APPEND, dir_fd=self._fd), self.path / name)

    @contextmanager
    def lock(self, name: str, *, waits: bool = False) -> Iterator[bool]:
        """Lock a file during the block; yields False if another process has it, unless we wait."""
        fd = self.append(name)
        try:
            # guards: lock-has-one-holder
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(fd)
            yield False
            return
        try:
            yield True
        finally:
            os.close(fd)

    def read_at(self, name: str, offset: int, size: int) -> bytes | None:
        """Read the bytes that follow a position: empty at the end, None without a file."""
        with _reading(self._fd, self.path / name) as fd:
            return None if fd is None else os.pread(fd, size, offset)

    def read(self, name: str) -> bytes | None:
        """Read a whole file; None if there is none."""
        with _reading(self._fd, self.path / name) as fd:
            if fd is None:
                return None
            data = bytearray()
            while more := os.read(fd, _CHUNK):
                data += more
                if len(data) > _MOST:  # guards: file-size-bounded
                    raise DamagedRunError(str(self.path / name), "is far too large")
            return bytes(data)

    def size(self, name: str) -> int | None:
        """Return the current size of a file in bytes; None if there is none."""
        with _reading(self._fd, self.path / name) as fd:
            return None if fd is None else os.fstat(fd).st_size


def remove_stale(folder: Folder, older_s: float) -> None:
    """Remove the folders in a folder that have not been touched for this long."""
    for name in folder.folders():
        with suppress(FileNotFoundError):
            touched = os.stat(name, dir_fd=folder._fd, follow_symlinks=False).st_mtime
            if time.time() - touched > older_s:
                folder.remove(name)


def is_locked(folder: Folder, name: str) -> bool:
    """True if another process holds a lock in a folder; any number can ask at once."""
    with _reading(folder._fd, folder.path / name) as fd:
        if fd is None:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def last_changes(folder: Folder) -> dict[str, float]:
    """Return the last change of each folder in a folder, by name; links are left out."""
    changes: dict[str, float] = {}
    with explained(folder.path), os.scandir(folder._fd) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    changes[entry.name] = entry.stat(follow_symlinks=False).st_mtime
            except FileNotFoundError:
                pass  # it was removed meanwhile
    return changes


def glance(folder: Folder, path: str) -> bytes:
    """Read the beginning of a file below a folder, as quickly as possible; empty if it cannot be.

    Only for what decides an order: nobody checks whose folders are on the way. What is shown is
    read by `Folder.read`.
    """
    try:
        fd = os.open(path, _READ, dir_fd=folder._fd)
    except OSError:
        return b""
    try:
        return os.read(fd, _GLANCE)
    except OSError:  # a folder, or a pipe without a writer
        return b""
    finally:
        os.close(fd)


def wrong_size(folder: Folder, name: str, size: int) -> str | None:
    """Return the problem with a file that should have this size; None if there is none.

    The file is not opened. If the size is 0, it may be missing.
    """
    try:
        found = os.stat(name, dir_fd=folder._fd, follow_symlinks=False)
    except OSError:
        return MISSING if size else None
    if not S_ISREG(found.st_mode):
        return "is not a plain file"
    return None if found.st_size == size else f"has {found.st_size} bytes"


@contextmanager
def _reading(folder: int, path: Path) -> Iterator[int | None]:
    """A file, open to read while the block lasts; None if there is none."""
    with explained(path):
        fd = open_file(path, folder)
        try:
            yield fd
        finally:
            if fd is not None:
                os.close(fd)


def open_file(path: Path, folder: int | None = None) -> int | None:
    """Open a file of ours to read, in an open folder if one is given; None if there is none.

    Anything but a plain file is refused, at once: a pipe does not block, a link is not followed.
    """
    with explained(path):
        try:
            name = path if folder is None else path.name
            return _plain(os.open(name, _READ, dir_fd=folder), path)
        except FileNotFoundError:
            return None


def replace_by(
    folder: Folder, name: str, chunks: Callable[[], Iterable[bytes]], *, like: str
) -> None:
    """Write a file in one step from chunks, with the time of another file of the folder."""
    with explained(folder.path / name):
        _holds(folder._fd, folder.path / name)
        times = os.stat(like, dir_fd=folder._fd, follow_symlinks=False)
        with _filled(folder._fd, folder.path / name, chunks(), times) as temporary:
            os.replace(temporary, name, src_dir_fd=folder._fd, dst_dir_fd=folder._fd)
        _sync(folder._fd)


@contextmanager
def keeping_times(folder: Folder) -> Iterator[None]:
    """Keep a folder's modification time, although the block changes files in it."""
    before = os.fstat(folder._fd)
    try:
        yield
    finally:
        with suppress(OSError):
            os.utime(folder._fd, ns=(before.st_atime_ns, before.st_mtime_ns))


def remove_leftovers(folder: Folder) -> None:
    """Remove the temporary files of a killed writer; no other may be writing in the folder."""
    with explained(folder.path), os.scandir(folder._fd) as entries:
        names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    for name in names:
        if name.startswith(".") and name.endswith(_TEMPORARY):
            folder.discard(name)


def _written(folder: int, path: Path, data: bytes) -> AbstractContextManager[str]:
    """A temporary file next to the path, with the data on disk; it is gone afterwards."""
    return _filled(folder, path, (data,))


@contextmanager
def _filled(
    folder: int, path: Path, chunks: Iterable[bytes], times: os.stat_result | None = None
) -> Iterator[str]:
    temporary = f".{path.name}.{os.urandom(8).hex()}{_TEMPORARY}"
    fd = _new(folder, temporary)
    try:
        try:
            for data in chunks:
                left = memoryview(data)
                while left:
                    left = left[os.write(fd, left) :]
            if times is not None:
                os.utime(fd, ns=(times.st_atime_ns, times.st_mtime_ns))
            os.fsync(fd)  # guards: file-synced
        finally:
            os.close(fd)
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def _new(folder: int, name: str, flags: int = 0) -> int:
    fd = os.open(name, _NEW | flags, _FILE_MODE, dir_fd=folder)
    _set_mode(fd, _FILE_MODE)
    return fd


def _link(folder: int, temporary: str, path: Path) -> bool:
    """Rename a file, unless the name is taken."""
    try:
        os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return not _holds(folder, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without hard links the step is as safe for readers, but two writers can both win.
        if _holds(folder, path):
            return False
        os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    return True


def _holds(folder: int, path: Path) -> bool:
    """True if there is such a file; anything else of that name is refused."""
    try:
        mode = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    if not S_ISREG(mode):  # guards: new-file-no-link
        raise UnsafeRunError(str(path), "is a link, or not a plain file")
    return True


def _plain(fd: int, path: Path) -> int:
    """Return the descriptor if it is that of a plain file, else close it and refuse."""
    if S_ISREG(os.fstat(fd).st_mode):  # guards: plain-files
        return fd
    os.close(fd)
    raise UnsafeRunError(str(path), "is not a plain file")


def _sync(folder: int) -> None:
    """Bring the names in a folder to the disk."""
    try:
        os.fsync(folder)  # guards: name-synced
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _set_mode(fd: int, mode: int) -> None:
    """Make sure of a mode, whatever the umask made of it; if that fails the file is closed."""
    try:
        if S_IMODE(os.fstat(fd).st_mode) != mode:
            os.fchmod(fd, mode)
    except OSError:
        os.close(fd)
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the system into one that names the path and the way out."""
    try:
        yield
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise UnsafeRunError(str(path), _IN_THE_WAY[error.errno]) from error
        raise RunFolderError(str(path), error.strerror or str(error)) from error
