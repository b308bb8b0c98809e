"""Where agents keep their sessions: in homes, and where variables of the environment point."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from nightrook.adapter.history import History, Kind, Place
from nightrook.archive.positions import Stamp
from nightrook.config.user_settings import archive_roots


def user_homes() -> tuple[Path, ...]:
    """The user's home, and those that the setting `archive_roots` names."""
    return (Path(os.path.expanduser("~")), *archive_roots())


class FoundFile(NamedTuple):
    """A file that may hold sessions."""

    history: History
    kind: Kind
    path: str
    below: str
    """Its path below the folder that was searched."""

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
        """Whose session a file is, by its path below the folder, and what kind of file it is."""
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
        """All files below a folder that a person named."""
        for path, _, stamp in self._walk(folder, ""):
            yield path, stamp

    def _walk(self, folder: str, agent: str) -> Iterator[tuple[str, str, Stamp]]:
        """All files below a folder: path, path below the folder, and stamp.

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
                elif entry.is_symlink() and is_elsewhere(entry.path, searched):
                    searched.append(_real(entry.path))
                    pending.append((entry.path, f"{below}{entry.name}/"))
                elif entry.is_symlink():
                    self._note_closed(entry.path, agent)

    def _note_closed(self, link: str, agent: str) -> None:
        """Note a link to what cannot be seen; one that leads nowhere or to itself is nothing."""
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
    """Of a plain file; None if it is a folder, or gone meanwhile."""
    try:
        return entry.stat() if entry.is_file() else None
    except OSError:
        return None


def is_elsewhere(link: str, searched: Iterable[str]) -> bool:
    """Whether a link leads to a folder that the search would not find or come from."""
    target = _real(link) + "/"
    return _is_folder(target) and not any(
        target.startswith(f"{root}/") or f"{root}/".startswith(target) for root in searched
    )


def _is_folder(path: str) -> bool:
    """Whether a path is known to be a folder; one in a folder that cannot be read is not."""
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
