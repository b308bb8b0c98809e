"""Finds the runs of rook that have ended since the last time, and reads what they used."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from nightrook.archive.ledger.runs import RunFigures
from nightrook.model.errors import NightrookError
from nightrook.store.file_names import RUNS, VERDICT
from nightrook.store.files import Folder
from nightrook.store.names import is_name


class RunsReading(NamedTuple):
    """The runs that have ended and were not known."""

    runs: list[RunFigures]
    unfinished: int
    """How many runs have no verdict yet; they are left out."""

    problems: list[str]
    """Which runs could not be read, and why."""


def read_runs(home: str | PathLike[str], known: Mapping[str, str]) -> RunsReading:
    """Read the runs in a home of nightrook, except those with a known stamp, by their names.

    Never raises. Most runs are known: these cost a look at the time of one file.
    """
    reading = RunsReading([], 0, [])
    try:
        folder = Folder.at(Path(os.path.abspath(home)), RUNS)
        if folder is None:
            return reading
        with folder:
            return _read_all(folder, known)
    except NightrookError as error:
        return reading._replace(problems=[str(error)])


def _read_all(folder: Folder, known: Mapping[str, str]) -> RunsReading:
    runs: list[RunFigures] = []
    problems: list[str] = []
    unfinished = 0
    for name in filter(is_name, folder.folders()):
        stamp = _stamp(folder.path / name)
        if stamp is None:
            unfinished += 1
        elif known.get(name) != stamp:
            from nightrook.archive.run_figures import run_figures  # most reports have no new run

            try:
                figures = run_figures(folder, name, stamp)
            except NightrookError as error:
                problems.append(str(error))
            else:
                runs += [figures] if figures else []
    return RunsReading(runs, unfinished, problems)


def _stamp(run: Path) -> str | None:
    """What changes with a run's verdict; None if it has none."""
    try:
        verdict = os.lstat(f"{run}/{VERDICT}")
    except OSError:
        return None
    return f"{verdict.st_mtime_ns} {verdict.st_size} {verdict.st_ino}"
