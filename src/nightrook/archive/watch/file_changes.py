"""Notices which files below some folders come, change or go: by inotify, otherwise by looking."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nightrook.archive.session_files import is_elsewhere
from nightrook.process.folder_watch import FolderWatch

_RECENT_S = 600.0  # a file that changed within this time is looked at often
_SWEEP_S = 2.0  # at least, between two looks at everything
_REST = 150  # times as long as a look at everything took, before the next one


class FileStamp(NamedTuple):
    """A file with a stamp that changes when it is written to."""

    path: str
    inode: int
    size: int
    mtime_ns: int


class PolledFolders:
    """Compares files with what they were; folders are added once, and not those below them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._folders: dict[str, set[str]] = {}
        self._stamps: dict[str, FileStamp] = {}
        self._recent: set[str] = set()
        self._swept_at = float("-inf")
        self._pause_s = _SWEEP_S

    def __len__(self) -> int:
        return len(self._folders)

    def add(self, folder: str) -> None:
        """Watch a folder from now on; its current files are not new."""
        self._folders[folder] = set()
        for _ in self._compare(folder):
            pass

    def look(self) -> set[str]:
        """The paths added, changed or removed since the last call, as far as it looked."""
        began = self._clock()
        if self._folders and began - self._swept_at >= self._pause_s:
            changed = {path for folder in list(self._folders) for path in self._compare(folder)}
            self._swept_at = self._clock()
            self._pause_s = max(_SWEEP_S, _REST * (self._swept_at - began))
            self._forget_old()
            return changed
        return {path for path in list(self._recent) if self._has_changed(path, _stamp(path))}

    def _compare(self, folder: str) -> Iterator[str]:
        """Yield the changes in a folder; a removed one is not watched any more."""
        try:
            with os.scandir(folder) as entries:
                listed = [(e.path, e.is_file(follow_symlinks=False)) for e in entries]
        except OSError:
            for path in self._folders.pop(folder, set()):
                self._has_changed(path, None)
            yield folder
            return
        known, now = self._folders[folder], {path for path, _ in listed}
        self._folders[folder] = now
        for path, is_file in listed:
            if (is_file and self._has_changed(path, _stamp(path))) or (
                not is_file and path not in known
            ):
                yield path
        for path in known - now:
            self._has_changed(path, None)
            yield path

    def _has_changed(self, path: str, stamp: FileStamp | None) -> bool:
        before = self._stamps.get(path)
        if stamp is None:
            self._stamps.pop(path, None)
            self._recent.discard(path)
        elif stamp != before:
            self._stamps[path] = stamp
            self._recent.add(path)
        return stamp != before

    def _forget_old(self) -> None:
        oldest = time.time_ns() - int(_RECENT_S * 1e9)
        self._recent = {path for path in self._recent if self._stamps[path].mtime_ns > oldest}


def _stamp(path: str) -> FileStamp | None:
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return FileStamp(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


_MOUNTS = "/proc/self/mountinfo"
_SILENT = re.compile(
    r"nfs\d?|cifs|smb3|smbfs|9p|virtiofs|vboxsf|ceph|afs|lustre|beegfs|fuse(\..+)?"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


class FileSystems:
    """The mounted file systems, as they were when this was made."""

    def __init__(self, lines: Iterable[str] | None = None) -> None:
        self._types = dict(map(_mount, _read() if lines is None else lines))

    def silent(self, folder: str) -> str | None:
        """The type of a folder's file system, if changes to it may go unreported."""
        path = folder
        while path not in self._types:
            if path in ("/", ""):
                return None
            path = os.path.dirname(path)
        found = self._types[path]
        return found if _SILENT.fullmatch(found) else None


def _read() -> list[str]:
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            return file.readlines()
    except OSError:
        return []  # another system


def _mount(line: str) -> tuple[str, str]:
    """The folder and the type of a line of `mountinfo`."""
    before, _, after = line.partition(" - ")
    fields = before.split(" ")
    folder = fields[4] if len(fields) > 4 else ""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), folder), after.partition(" ")[0]


_NO_INOTIFY = "this system has no inotify"
_LIMIT = "the limit of watched folders is reached (fs.inotify.max_user_watches)"


class FileChanges:
    """Follows trees of folders, also through links that lead elsewhere.

    `watch` is None where the system does not report changes. `silent` returns the type of a
    folder's file system if changes to it go unreported.
    """

    def __init__(
        self,
        watch: FolderWatch | None,
        *,
        silent: Callable[[str], str | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.polled_because: dict[str, int] = {}
        """Number of polled folders, by the reason for polling."""
        self.problems: dict[str, str] = {}
        """Reason why a folder cannot be read, by its path."""
        self._watch = watch
        self._silent = silent or FileSystems().silent
        self._polled = PolledFolders(clock)
        self._folders: dict[str, str] = {}  # those that are followed, and where they really are
        self._paths: dict[str, str] = {}  # the same, the other way round

    def __len__(self) -> int:
        return len(self._folders)

    def follows(self, folder: str) -> bool:
        """True if a folder is followed; not if it is missing or gone."""
        return folder in self._folders

    def add(self, folder: str) -> list[FileStamp]:
        """Follow a folder and all below it; return the files that it has now."""
        return list(self._walk(folder)) if Path(folder).is_dir() else []

    def read(self) -> set[str]:
        """The paths of files that may have changed since the last call; some may be gone."""
        files: set[str] = set()
        for path in self._reported() | self._polled.look():
            if path in self._folders:
                files.update(self._looked_at_again(path))
            elif not Path(path).is_dir():
                files.add(path)
            elif not Path(path).is_symlink() or is_elsewhere(path, self._paths):
                files.update(file.path for file in self._walk(path))
        return files

    def close(self) -> None:
        """Follow nothing any more."""
        if self._watch is not None:
            self._watch.close()

    def _reported(self) -> set[str]:
        """The paths that the system reports; a folder itself, if anything in it may be new."""
        paths: set[str] = set()
        for change in self._watch.read() if self._watch is not None else ():
            folder = self._paths.get(change.folder)
            if folder is not None:
                path = os.path.join(folder, change.name) if change.name else folder
                paths.add(path)
                if change.is_gone and path in self._folders:
                    self._leave(path)
        return paths

    def _looked_at_again(self, folder: str) -> Iterator[str]:
        if Path(folder).is_dir():
            yield from (file.path for file in self._walk(folder))
        else:
            self._leave(folder)

    def _leave(self, folder: str) -> None:
        """Follow a folder and those below it no longer."""
        for path in [each for each in self._folders if f"{each}/".startswith(f"{folder}/")]:
            real = self._folders.pop(path)
            self._paths.pop(real, None)
            if self._watch is not None:
                self._watch.remove(real)

    def _walk(self, root: str) -> Iterator[FileStamp]:
        """Follow a folder and all below it, and yield the files.

        A folder is followed before it is listed: what comes meanwhile is seen twice, not missed.
        """
        pending = [(root, os.path.realpath(root))]
        searched = [pending[0][1]]
        while pending:
            folder, real = pending.pop()
            for entry in self._followed(folder, real):
                if entry.is_dir(follow_symlinks=False):
                    pending.append((f"{folder}/{entry.name}", f"{real}/{entry.name}"))
                elif (file := _file(entry, f"{folder}/{entry.name}")) is not None:
                    yield file
                elif entry.is_symlink() and is_elsewhere(entry.path, searched):
                    searched.append(os.path.realpath(entry.path))
                    pending.append((f"{folder}/{entry.name}", searched[-1]))

    def _followed(self, folder: str, real: str) -> list["os.DirEntry[str]"]:
        """Return the entries of a folder, and follow it from now on if it can be read."""
        why = None if folder in self._folders else self._unreported(real)
        if why is not None:
            self._polled.add(folder)
        try:
            with os.scandir(real) as entries:
                listed = list(entries)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.problems[folder] = error.strerror or str(error)
            return []
        self.problems.pop(folder, None)
        self._folders[folder], self._paths[real] = real, folder
        if why is not None:
            self.polled_because[why] = self.polled_because.get(why, 0) + 1
        return listed

    def _unreported(self, real: str) -> str | None:
        """Watch a folder; say why that is not possible, or None."""
        if self._watch is None:
            return _NO_INOTIFY
        if (type_ := self._silent(real)) is not None:
            return f"the file system {type_} does not report all changes"
        return None if self._watch.add(real) else _LIMIT


def _file(entry: "os.DirEntry[str]", path: str) -> FileStamp | None:
    """A plain file; None if it is something else, or gone meanwhile."""
    try:
        stat = entry.stat() if entry.is_file() else None
    except OSError:
        return None
    return stat and FileStamp(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
