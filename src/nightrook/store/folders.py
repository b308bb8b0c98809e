"""Folders in the home: how one is made whole; how those of loops and batches are read, locked."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from nightrook.model.errors import DamagedRunError, NightrookError, RunFolderError
from nightrook.model.text import suggested
from nightrook.store.file_names import LOCK, NEW, RUNNER_LOG
from nightrook.store.files import Folder, is_locked, remove_stale
from nightrook.store.names import Kind, check_name, named_folders, new_names, pick, prefix_of

_STALE_S = 3600.0


def make_folder(
    home: Path, parent: str, names: Iterable[str], write: Callable[[Folder, str], None]
) -> Path:
    """Make a folder under the first of the names that is free; make home too if it is missing.

    `write` writes its files, for each name that is tried. It gets the name only then, so that no
    reader ever finds it without them.
    """
    with Folder.made(home) as above, above.own(parent) as others, above.own(NEW) as makers:
        # guards: unfinished-swept
        remove_stale(makers, _STALE_S)  # left by processes that were killed while they made one
        unnamed = os.urandom(8).hex()
        try:
            with makers.own(unnamed) as folder:
                for name in names:
                    write(folder, name)  # guards: files-before-name
                    if makers.move(unnamed, others, name):
                        return home / parent / name
        except RunFolderError:
            makers.remove(unnamed)  # guards: failed-folder-removed
            raise
    raise AssertionError("there is always another name")


_STOP = "stop"
_STOP_BYTES = 8
_CHUNK = 1024 * 1024
_WRONG = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_Value = TypeVar("_Value")


class NotRunningError(NightrookError):
    """No process runs the loop or batch, so there is nothing to stop."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"{what} {name!r} is not running: see  {suggested('show', name)}")


@dataclass(frozen=True)
class FolderKind:
    """One kind of named folder in the home."""

    parent: str
    """The folder below home that holds them."""

    what: Kind
    """Noun for one of them in messages."""

    def create(self, home: str | PathLike[str], files: Mapping[str, bytes]) -> Path:
        """Make a folder with these files, under a new name; make home too if it is missing."""

        def write(folder: Folder, _: str) -> None:
            for file, data in files.items():
                folder.replace(file, data)

        names = (prefix_of(self.what) + name for name in new_names())
        return make_folder(_absolute(home), self.parent, names, write)

    def find(self, home: str | PathLike[str], name: str) -> Path:
        """Find a folder by its name or the unique beginning of it, with or without the prefix."""
        top = _absolute(home)
        known = named_folders(top, self.parent)
        return top / self.parent / pick(name, known, what=self.what)

    def paths(self, home: str | PathLike[str]) -> list[Path]:
        """List all folders of this kind, in no particular order."""
        top = _absolute(home)
        return [top / self.parent / name for name in named_folders(top, self.parent)]


LOOPS = FolderKind(parent="loops", what="loop")
BATCHES = FolderKind(parent="batches", what="batch")


@dataclass(frozen=True)
class NamedFolder:
    """The files of one loop or batch. Methods raise a RunFolderError if the folder is gone."""

    path: Path

    def __post_init__(self) -> None:
        check_name(self.path.name)

    @property
    def name(self) -> str:
        """The name of the loop or batch."""
        return self.path.name

    def read(self, file: str) -> bytes | None:
        """Read a whole file; None if it does not exist."""
        with Folder.kept(self.path) as folder:
            return folder.read(file)

    def load(self, file: str, decode: Callable[[bytes], _Value]) -> _Value | None:
        """Read and decode a file; None if it does not exist, a DamagedRunError if it is wrong."""
        data = self.read(file)
        try:
            return None if data is None else decode(data)
        except _WRONG as error:
            message = "has unexpected contents"
            raise DamagedRunError(str(self.path / file), message) from error

    def lines(self, file: str, decode: Callable[[bytes], _Value]) -> Iterator[_Value]:
        """Decode a file line by line; a line that a crash cut short is left out."""
        return _decoded((self.read(file) or b"").split(b"\n"), decode)

    def replace(self, file: str, data: bytes) -> None:
        """Write a file in one step and sync it to disk."""
        with Folder.kept(self.path) as folder:
            folder.replace(file, data)

    def append(self, file: str) -> int:
        """Open a file to append to; the caller closes the descriptor."""
        with Folder.kept(self.path) as folder:
            return folder.append(file)

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Lock the folder during the block; yields False if another process holds the lock."""
        with Folder.kept(self.path) as folder, folder.lock(LOCK) as acquired:
            yield acquired

    @property
    def is_locked(self) -> bool:
        """True if another process holds the folder's lock."""
        with Folder.kept(self.path) as folder:
            return is_locked(folder, LOCK)


class NewLines(Generic[_Value]):
    """Reads a file of lines that another process appends to."""

    def __init__(self, path: Path, file: str, decode: Callable[[bytes], _Value]) -> None:
        self._path = path
        self._file = file
        self._decode = decode
        self._position = 0
        self._partial = b""

    def read(self) -> list[_Value]:
        """Decode the lines that were completed since the last call."""
        with Folder.kept(self._path) as folder:
            data = [self._partial]
            while more := folder.read_at(self._file, self._position, _CHUNK):
                data.append(more)
                self._position += len(more)
        *lines, self._partial = b"".join(data).split(b"\n")
        return list(_decoded(lines, self._decode))


class ProcessFolder:
    """The folder of a loop or batch: whether a process runs it, and how to ask that one to end."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self._files = NamedFolder(path)
        self.kind = kind

    @property
    def path(self) -> Path:
        """Path of the folder."""
        return self._files.path

    @property
    def name(self) -> str:
        """The name of the loop or batch."""
        return self._files.name

    @property
    def is_running(self) -> bool:
        """True if a process runs it now."""
        return self._files.is_locked

    def request_stop(self) -> None:
        """Ask the process that runs it to end it; a NotRunningError if there is none."""
        if not self.is_running:
            raise NotRunningError(self.kind, self.name)
        self._files.replace(_STOP, os.urandom(_STOP_BYTES))

    def stop_request(self) -> bytes | None:
        """Read the last stop request: its bytes differ from those of every earlier one."""
        return self._files.read(_STOP)

    def runner_log(self) -> int:
        """Open the file for the errors of a process in the background."""
        return self._files.append(RUNNER_LOG)


def _decoded(lines: Iterable[bytes], decode: Callable[[bytes], _Value]) -> Iterator[_Value]:
    """Decode lines; those that a crash cut short are left out."""
    for line in lines:
        try:
            yield decode(line)
        except _WRONG:
            continue


def _absolute(home: str | PathLike[str]) -> Path:
    return Path(os.path.abspath(home))
