"""All runs in a home folder: made, found and listed."""

import math
import os
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.store.file_names import INFO, RUNS, VERDICT
from nightrook.store.files import Folder, last_changes
from nightrook.store.folders import make_folder
from nightrook.store.names import check_name, is_name, new_names, pick
from nightrook.store.run_folder import RunFolder, load
from nightrook.store.run_formats import RunInfo, dump


def create(home: str | PathLike[str], info: RunInfo) -> RunFolder:
    """Make the folder of a new run, under a new name; home is made if it is missing.

    It gets its name when it has its `run.json`, so that every run folder has one.
    """

    def write(folder: Folder, name: str) -> None:
        folder.replace(INFO, dump(msgspec.structs.replace(info, name=name)))

    names = chain([info.name] if info.name else [], new_names())
    return RunFolder(make_folder(_absolute(home), RUNS, names, write))


def find(home: str | PathLike[str], name: str) -> RunFolder:
    """The run of that name, or the only one whose name starts with it.

    A BadRunNameError, AmbiguousRunError or UnknownRunError says why there is none.
    """
    check_name(name)
    path = _absolute(home)
    exact = Folder.at(path, RUNS, name)
    if exact is None:
        return RunFolder(path / RUNS / pick(name, _names(path)))
    with exact:
        return RunFolder(exact.path)


def runs(home: str | PathLike[str]) -> list[RunFolder]:
    """All runs, the newest first; those without a start time come last."""
    return list(newest_first(home))


class ReadRun(NamedTuple):
    """A run with its `run.json`, which was read to put the runs in order."""

    folder: RunFolder
    info: RunInfo | None
    problem: NightrookError | None = None
    """Why `run.json` could not be read."""

    @property
    def started_at(self) -> float:
        """When it started; unknown counts as before all others."""
        return -math.inf if self.info is None else self.info.started_at


class NewestFirst:
    """All runs, the newest first; no more of them are read than the order needs.

    No run started after its folder last changed. So a run comes next when it started after all
    unread folders changed. Runs without a start time come last.
    """

    def __init__(self, home: str | PathLike[str], *, only_unfinished: bool = False) -> None:
        """`only_unfinished` leaves out the runs that have a verdict."""
        self._home = _absolute(home)
        self._changes = _last_changes(self._home)
        if only_unfinished:
            path = os.path.join(self._home, RUNS)
            ended = [name for name in self._changes if os.path.lexists(f"{path}/{name}/{VERDICT}")]
            for name in ended:
                del self._changes[name]

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[ReadRun]:
        folders = Folder.at(self._home, RUNS) if self._changes else None
        if folders is None:
            return
        read: list[tuple[float, str, ReadRun]] = []
        with folders:
            for name, changed in sorted(self._changes.items(), key=itemgetter(1), reverse=True):
                while read and -read[0][0] > changed:
                    yield heappop(read)[-1]
                run = _read(folders, name)
                heappush(read, (-min(run.started_at, changed), name, run))
        while read:
            yield heappop(read)[-1]


def newest_first(home: str | PathLike[str]) -> Iterator[RunFolder]:
    """Yield all runs, the newest first."""
    return (run.folder for run in NewestFirst(home))


def last(home: str | PathLike[str]) -> RunFolder | None:
    """The run that started last; None if there is none."""
    return next(newest_first(home), None)


def _absolute(home: str | PathLike[str]) -> Path:
    return Path(os.path.abspath(home))


def _names(home: Path) -> list[str]:
    """The names of all runs."""
    folder = Folder.at(home, RUNS)
    if folder is None:
        return []
    with folder:
        return [name for name in folder.folders() if is_name(name)]


def _last_changes(home: Path) -> dict[str, float]:
    """When the folder of each run last changed, by their names."""
    folder = Folder.at(home, RUNS)
    if folder is None:
        return {}
    with folder:
        return {name: at for name, at in last_changes(folder).items() if is_name(name)}


def _read(folders: Folder, name: str) -> ReadRun:
    run = RunFolder(folders.path / name)
    try:
        folder = folders.open(name)
        if folder is None:
            return ReadRun(run, None)
        with folder:
            return ReadRun(run, load(folder, INFO, RunInfo))
    except NightrookError as error:
        return ReadRun(run, None, error)
