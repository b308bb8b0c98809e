"""Files and folders that a person names: whose sessions they hold is found by their content."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nightrook.adapter.history import History, Kind
from nightrook.archive.places import FoundFile, Search, storable_path
from nightrook.archive.positions import Stamp
from nightrook.archive.sqlite_stores import schema
from nightrook.model.errors import NightrookError

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
    text = schema(path) if kind == "sqlite" else head
    fitting = _keeping(histories, kind)
    recognised = next((history for history in fitting if history.recognises(text)), None)
    if recognised is not None or others is None or len(fitting) != 1:
        return recognised
    is_foreign = any(history.recognises(text) for history in _keeping(others, kind))
    return None if is_foreign else fitting[0]


def _keeping(histories: Sequence[History], kind: Kind) -> list[History]:
    """Those of agents that keep sessions in files of a kind."""
    return [history for history in histories if any(p.kind == kind for p in history.places)]


def _below(history: History, path: str) -> str:
    """A path below the folder in which its agent keeps such files, if it is there."""
    for place in history.places:
        _, found, below = path.rpartition(f"/{place.below}/") if place.below else ("", "", "")
        if found:
            return below
    return path.strip("/")
