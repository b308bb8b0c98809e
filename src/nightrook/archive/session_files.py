"""Finds the files in which agents keep sessions, and opens them without leaving a trace.

Which agents: those of this package and of others. Where: in the homes of users, where variables of
the environment point, and what a person names. A file that is not new since the last import is
passed over by its stamp alone.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from nightrook import agents
from nightrook.adapter.history import History, Kind, Place
from nightrook.archive.sqlite_stores import store_schema
from nightrook.config.user_settings import archive_roots
from nightrook.model.errors import NightrookError

_METADATA = (".dist-info", ".egg-info")


def history_names() -> tuple[str, ...]:
    """The names of the agents whose stored sessions are read."""
    return agents.history_names() if may_add(agents.HISTORY_GROUP) else agents.HISTORIES


def may_add(group: str) -> bool:
    """True if a package on the path may have entry points of a group; false only if none has.

    `importlib.metadata`, which finds them, takes longer to import than all of our own readers.
    """
    return any(_may_add(folder or ".", group.encode()) for folder in sys.path)


@cache
def _may_add(folder: str, group: bytes) -> bool:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except NotADirectoryError:
        return True  # an archive, which may have packages in it
    except OSError:
        return False
    if any(name.endswith(".egg") for name in names):
        return True
    points = (Path(folder, name, "entry_points.txt") for name in names if name.endswith(_METADATA))
    return any(group in _content(path) for path in points)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def user_homes() -> tuple[Path, ...]:
    """The user's home, and those that the setting `archive_roots` names."""
    return (Path(os.path.expanduser("~")), *archive_roots())


class Stamp(NamedTuple):
    """Fields of a file's status that change when it is written to."""

    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, stat: os.stat_result) -> "Stamp":
        """The stamp of a file."""
        return cls(stat.st_ino, stat.st_size, stat.st_mtime_ns)


class FoundFile(NamedTuple):
    """A file that may hold sessions."""

    history: History
    kind: Kind
    path: str
    below: str
    """Path below the folder that was searched."""

    stamp: Stamp


class SearchedFolder:
    """A folder in which agents keep sessions; it may not exist."""

    def __init__(self, path: str, places: Sequence[tuple[History, Place]]) -> None:
        self.path = path
        self.agent = places[0][0].agent
        """The first agent that keeps sessions there."""
        self._patterns = [
            (history, place.kind, re.compile(place.files).fullmatch) for history, place in places
        ]

    def match(self, below: str) -> tuple[History, Kind] | None:
        """Return the history and the kind of a file, by its path below the folder."""
        for history, kind, matches in self._patterns:
            if matches(below):
                return history, kind
        return None


def searched_folders(
    histories: Iterable[History], homes: Sequence[Path], environment: Mapping[str, str]
) -> list[SearchedFolder]:
    """The folders in which agents keep sessions; the variables are about the first home."""
    folders: dict[str, list[tuple[History, Place]]] = {}
    for history in histories:
        for place in history.places:
            moved = _named_folders(environment.get(place.variable or "", ""))
            for root in [*moved, *(home / place.home for home in homes)]:
                folder = os.path.abspath(root / place.below)
                folders.setdefault(folder, []).append((history, place))
    return [SearchedFolder(folder, places) for folder, places in folders.items()]


class Search:
    """Finds files; folders that cannot be read are noted."""

    def __init__(
        self,
        histories: Iterable[History],
        known: Mapping[str, tuple[int, int, int]] = MappingProxyType({}),
    ) -> None:
        """`known` are stamps of files, by their storable paths: unchanged ones are passed over."""
        self._histories = tuple(histories)
        self._known = known
        self.unchanged: set[str] = set()
        """The storable paths of the files that were passed over."""
        self.problems: dict[str, tuple[str, str]] = {}
        """The agent and the reason, by the path of a folder that could not be read."""

    def homes(self, homes: Sequence[Path], environment: Mapping[str, str]) -> Iterator[FoundFile]:
        """Find the files of all agents; the variables are about the first home."""
        for searched in searched_folders(self._histories, homes, environment):
            for path, relative, stamp in self._walk(searched.path, searched.agent):
                if (match := searched.match(relative)) is not None:
                    history, kind = match
                    yield FoundFile(history, kind, path, relative, stamp)

    def files(self, folder: str) -> Iterator[tuple[str, Stamp]]:
        """Yield all files below a folder that a person named."""
        for path, _, stamp in self._walk(folder, ""):
            yield path, stamp

    def _walk(self, folder: str, agent: str) -> Iterator[tuple[str, str, Stamp]]:
        """Yield all files below a folder: path, path below the folder, and stamp.

        A link to a folder is followed, unless it leads to a folder above or below: no loops.
        """
        searched = [_real(folder)]
        pending = [(folder, "")]
        known, unchanged = self._known.get, self.unchanged.add
        while pending:
            current, below = pending.pop()
            for entry in self._entries(current, agent):
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{below}{entry.name}/"))
                elif (stat := _stat(entry)) is not None:
                    stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
                    path = entry.path
                    storable = path if path.isascii() else storable_path(path)
                    if known(storable) == stamp:
                        unchanged(storable)
                    else:
                        yield path, below + entry.name, Stamp(*stamp)
                # guards: circular-links
                elif entry.is_symlink() and is_elsewhere(entry.path, searched):
                    searched.append(_real(entry.path))
                    pending.append((entry.path, f"{below}{entry.name}/"))
                elif entry.is_symlink():
                    self._note_closed(entry.path, agent)

    def _note_closed(self, link: str, agent: str) -> None:
        """Record a link whose target cannot be seen; ignore one that leads nowhere or to itself."""
        try:
            Path(link).stat()
        except PermissionError as error:
            self.problems[storable_path(link)] = (agent, error.strerror or str(error))
        except OSError:
            return

    def _entries(self, folder: str, agent: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.problems[storable_path(folder)] = (agent, error.strerror or str(error))
            return []


def _named_folders(value: str) -> list[Path]:
    """The folders that a variable names: one, or several separated by commas."""
    if not value or _is_folder(value):
        return [Path(value)] if value else []
    return [Path(part.strip()) for part in value.split(",") if part.strip()]


def _stat(entry: "os.DirEntry[str]") -> os.stat_result | None:
    """Return the stamp of a plain file; None if it is a folder, or was removed meanwhile."""
    try:
        return entry.stat() if entry.is_file() else None
    except OSError:
        return None


def is_elsewhere(link: str, searched: Iterable[str]) -> bool:
    """True if a link leads to a folder that the search would not find or come from."""
    target = _real(link) + "/"
    return _is_folder(target) and not any(
        target.startswith(f"{root}/") or f"{root}/".startswith(target) for root in searched
    )


def _is_folder(path: str) -> bool:
    """True if a path is known to be a folder; one in a folder that cannot be read is not."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def _real(path: str) -> str:
    """A path without links, as far as they can be read."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def storable_path(path: str) -> str:
    """A path as the ledger has it: bytes that are not text are shown as hexadecimal."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


# O_NONBLOCK: a pipe in place of a file must not block. O_NOATIME: reading leaves no trace.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NO_TRACE = getattr(os, "O_NOATIME", 0)  # guards: no-read-trace


def open_unseen(path: str) -> int:
    """Open a file to read it, and return its descriptor."""
    try:
        return os.open(path, _OPEN | _NO_TRACE)
    except PermissionError:
        return os.open(path, _OPEN)  # only the owner of a file may leave no trace


_HEAD = 64 * 1024  # bytes by which a file is recognised
_SQLITE = b"SQLite format 3\0"
_SUFFIXES = (".jsonl", ".json", ".db", ".sqlite")


class UnknownSessionsError(NightrookError):
    """A named file isn't a session of any agent."""


def named_files(
    search: Search,
    histories: Sequence[History],
    paths: Iterable[str | os.PathLike[str]],
    *,
    others: Sequence[History] | None = None,
) -> Iterator[FoundFile]:
    """Find the sessions in files and folders; an error names a path that has none.

    A folder may be a home of a user, a folder of an agent, or any other. `others` are given if a
    person named the agent: then its files need not look like its own, but not like those of others.
    """
    for given in paths:
        path = _existing(os.fspath(given))
        found = list(_found(search, histories, path, others))
        if not found and not search.problems:
            known = ", ".join(history.agent for history in histories)
            way_out = "--agent says whose they are" if others is None else "name another --agent"
            raise UnknownSessionsError(f"{path} has no sessions of {known}; {way_out}")
        yield from found


def _existing(given: str) -> str:
    path = os.path.abspath(given) if given else "''"
    try:
        Path(path).stat()
    except FileNotFoundError:
        message = f"{path} does not exist; name a file or a folder that does"
        raise UnknownSessionsError(message) from None
    except OSError as error:
        message = f"{path} can't be read: {error.strerror}; name a file or a folder that can"
        raise UnknownSessionsError(message) from error
    return path


def _found(
    search: Search, histories: Sequence[History], path: str, others: Sequence[History] | None
) -> Iterator[FoundFile]:
    files: Iterator[tuple[str, Stamp]]
    if Path(path).is_dir():
        in_home = list(search.homes((Path(path),), {}))
        if in_home:
            yield from in_home
            return
        files = ((file, stamp) for file, stamp in search.files(path) if file.endswith(_SUFFIXES))
    elif Path(path).is_file():
        files = iter([(path, Stamp.of(Path(path).stat()))])
    else:
        raise UnknownSessionsError(f"{path} is a device or a pipe; name a file or a folder")
    for file, stamp in files:
        try:
            head = _head(file)
        except OSError as error:
            search.problems[storable_path(file)] = ("", error.strerror or str(error))
            continue
        kind = _kind(file, head)
        history = _history(histories, file, head, kind, others)
        if history is not None:
            yield FoundFile(history, kind, file, _below(history, file), stamp)


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _kind(path: str, head: bytes) -> Kind:
    if head.startswith(_SQLITE):
        return "sqlite"
    return "document" if path.endswith(".json") else "lines"


def _history(
    histories: Sequence[History],
    path: str,
    head: bytes,
    kind: Kind,
    others: Sequence[History] | None,
) -> History | None:
    text = store_schema(path) if kind == "sqlite" else head
    fitting = _keeping(histories, kind)
    recognised = next((history for history in fitting if history.recognises(text)), None)
    if recognised is not None or others is None or len(fitting) != 1:
        return recognised
    is_foreign = any(history.recognises(text) for history in _keeping(others, kind))
    return None if is_foreign else fitting[0]


def _keeping(histories: Sequence[History], kind: Kind) -> list[History]:
    """Return the histories of agents that keep sessions in files of a kind."""
    return [history for history in histories if any(p.kind == kind for p in history.places)]


def _below(history: History, path: str) -> str:
    """A path below the folder in which its agent keeps such files, if it is there."""
    for place in history.places:
        _, found, below = path.rpartition(f"/{place.below}/") if place.below else ("", "", "")
        if found:
            return below
    return path.strip("/")
