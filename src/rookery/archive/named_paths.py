"""Files and folders that a person names: whose sessions they hold is found by their content."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rookery.adapter.history import History, Kind
from rookery.archive.places import FoundFile, Search
from rookery.archive.positions import Stamp
from rookery.archive.sqlite_stores import schema
from rookery.model.errors import RookeryError

_HEAD = 64 * 1024  # bytes by which a file is recognised
_SQLITE = b"SQLite format 3\0"
_SUFFIXES = (".jsonl", ".json", ".db", ".sqlite")


class UnknownSessionsError(RookeryError):
    """A named file isn't a session of any agent."""


def named_files(
    search: Search,
    histories: Sequence[History],
    paths: Iterable[str | os.PathLike[str]],
    *,
    named: bool,
) -> Iterator[FoundFile]:
    """Find the sessions in files and folders; an error names a path that has none.

    A folder may be a home of a user, a folder of an agent, or any other. `named` says that a person
    named the agent: then its files are not looked into.
    """
    for given in paths:
        path = os.path.abspath(given)
        if not os.path.lexists(path):
            raise UnknownSessionsError(f"{path} does not exist")
        found = list(_found(search, histories, path, named=named))
        if not found and not search.problems:
            known = ", ".join(history.agent for history in histories)
            raise UnknownSessionsError(
                f"{path} has no sessions of {known}; --agent says whose they are"
            )
        yield from found


def _found(
    search: Search, histories: Sequence[History], path: str, *, named: bool
) -> Iterator[FoundFile]:
    files: Iterator[tuple[str, Stamp]]
    if Path(path).is_dir():
        in_home = list(search.homes((Path(path),), {}))
        if in_home:
            yield from in_home
            return
        files = ((file, stamp) for file, stamp in search.files(path) if file.endswith(_SUFFIXES))
    else:
        files = iter([(path, Stamp.of(Path(path).stat()))])
    for file, stamp in files:
        head = _head(file)
        kind = _kind(file, head)
        history = _history(histories, file, head, kind, named=named)
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
    histories: Sequence[History], path: str, head: bytes, kind: Kind, *, named: bool
) -> History | None:
    fitting = [h for h in histories if any(place.kind == kind for place in h.places)]
    if named and len(fitting) == 1:
        return fitting[0]
    text = schema(path) if kind == "sqlite" else head
    return next((history for history in fitting if history.recognises(text)), None)


def _below(history: History, path: str) -> str:
    """A path below the folder in which its agent keeps such files, if it is there."""
    for place in history.places:
        _, found, below = path.rpartition(f"/{place.below}/") if place.below else ("", "", "")
        if found:
            return below
    return path.strip("/")
