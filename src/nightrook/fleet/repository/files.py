"""Archives of files outside of git: plain files only, with names that stay in their folder."""

import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import IO, BinaryIO, NoReturn

from nightrook.display.numbers import size as size_words
from nightrook.fleet.repository.limits import TooLargeError, some
from nightrook.model.errors import NightrookError
from nightrook.model.text import count
from nightrook.runs.git.git_command import ask
from nightrook.runs.git.repository import Repository

_MOST_FILES = 100_000
_LONGEST_NAME = 4096
_CHUNK = 1024 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # guards: no-worker-links
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_OUTSIDE = ("", ".", "..")
_DAMAGED = (tarfile.TarError, OSError, ValueError, EOFError, OverflowError, RecursionError)


class BadArchiveError(NightrookError):
    """An archive is damaged, or has something else in it than plain files."""


def archive_files(
    repository: Repository,
    env: Mapping[str, str],
    path: Path,
    *,
    patterns: Sequence[str],
    limit: int,
) -> tuple[Path | None, list[str]]:
    """Write the untracked files that patterns match to a new archive.

    Links, devices and the like are left out, which a note reports. Returns no path if there are
    no files.
    """
    names = _matching(repository, env, patterns)
    if not names:
        return None, []
    with open(path, "xb", opener=_private) as file:
        skipped = _add(file, repository.top, names, limit)
    if len(skipped) == len(names):
        path.unlink()
    notes = [
        f"{count(len(skipped), 'file')} not brought back, only plain files are: {some(skipped)}"
    ]
    return (path if path.exists() else None), notes if skipped else []


def unpack_files(archive: Path, folder: Path, *, limit: int) -> list[str]:
    """Write the files of an archive to a new folder; return their names.

    A BadArchiveError says what is wrong with an archive; what was written before stays.
    """
    try:
        folder.mkdir()
    except OSError as error:
        raise BadArchiveError(f"{folder}: {error.strerror or error}; move it away") from error
    names, total = list[str](), 0
    try:
        with open(archive, "rb") as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for entry in tar:
                parts = _safe_parts(entry)
                total += entry.size
                if total > limit or len(names) >= _MOST_FILES:  # guards: archive-bounded
                    _refuse(limit)
                source = tar.extractfile(entry)
                _write(folder, parts, source, 0o700 if entry.mode & 0o100 else 0o600)
                names.append("/".join(parts))
    except _DAMAGED as error:
        raise BadArchiveError(f"{archive}: the archive is damaged") from error
    return names


def _matching(repository: Repository, env: Mapping[str, str], patterns: Sequence[str]) -> list[str]:
    """The files that git has not, although it was given all that it does not ignore."""
    if not patterns:
        return []
    words = ("ls-files", "--others", "-z", "--", *(f":(top,glob){one}" for one in patterns))
    names = (ask(repository.top, *words, env=env) or "").split("\0")
    return [name for name in names if name and not name.endswith("/")]


def _add(file: BinaryIO, top: str, names: Sequence[str], limit: int) -> list[str]:
    """Add files to a new archive; return those that are not plain."""
    skipped, total = list[str](), 0
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for number, name in enumerate(names):
            with _opened(top, name) as source:
                if source is None:
                    skipped.append(name)
                    continue
                entry = _entry(name, source)
                total += entry.size
                if total > limit or number >= _MOST_FILES:
                    _refuse(limit)
                tar.addfile(entry, source)
    return skipped


def _entry(name: str, source: BinaryIO) -> tarfile.TarInfo:
    """The entry of a file in an archive: nothing about this machine and its users."""
    about = os.fstat(source.fileno())
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = about.st_size, int(about.st_mtime)
    entry.mode = 0o755 if about.st_mode & 0o100 else 0o644
    return entry


@contextmanager
def _opened(top: str, name: str) -> Iterator[BinaryIO | None]:
    """A plain file, open to read, reached through no link; None if it is not one."""
    *folders, last = name.split("/")
    try:
        with _below(top, folders, make=False) as folder:
            fd = os.open(last, _READ, dir_fd=folder)
    except OSError:
        yield None
        return
    with open(fd, "rb") as file:
        yield file if S_ISREG(os.fstat(fd).st_mode) else None


@contextmanager
def _below(top: str, names: Sequence[str], *, make: bool) -> Iterator[int]:
    """A folder below another one, reached through no link, and made on request."""
    fd = os.open(top, _FOLDER)
    try:
        for name in names:
            if make:
                _make_folder(name, fd)
            inner = os.open(name, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def _make_folder(name: str, fd: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=fd)


def _safe_parts(entry: tarfile.TarInfo) -> list[str]:
    """The parts of the name of a plain file in an archive; an error for anything else."""
    parts = entry.name.split("/")
    is_plain = entry.type in _PLAIN and not entry.issparse() and entry.size >= 0
    is_inside = not any(part in _OUTSIDE or "\0" in part for part in parts)
    if not is_plain or not is_inside or len(entry.name) > _LONGEST_NAME:  # guards: archive-plain
        raise BadArchiveError(
            f"the archive has something else than plain files in its folder: {some([entry.name])}"
        )
    return parts


def _write(folder: Path, parts: Sequence[str], source: IO[bytes] | None, mode: int) -> None:
    *folders, last = parts
    with _below(str(folder), folders, make=True) as fd:
        file = os.open(last, _NEW, mode, dir_fd=fd)
    with open(file, "wb") as target:
        while source is not None and (data := source.read(_CHUNK)):
            target.write(data)


def _refuse(limit: int) -> NoReturn:
    raise TooLargeError(
        f"the files outside of git are more than {size_words(limit)}, or more than {_MOST_FILES}: "
        "name fewer of them"
    )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
