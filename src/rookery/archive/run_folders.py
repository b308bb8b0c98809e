"""Reads what the runs of rook used, from their folders."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from rookery.archive.ledger.records import RunFigures
from rookery.model.errors import RookeryError
from rookery.model.snapshot import TokenCounts
from rookery.process.demo_player import is_played
from rookery.store.file_names import INFO, RUNS, VERDICT
from rookery.store.files import Folder
from rookery.store.names import is_name
from rookery.store.run_folder import load
from rookery.store.run_formats import RunInfo, VerdictInfo


class RunsReading(NamedTuple):
    """The runs that have ended and were not known."""

    runs: list[RunFigures]
    unfinished: int
    """How many runs have no verdict yet; they are left out."""

    problems: list[str]
    """Which runs could not be read, and why."""


def read_runs(home: str | PathLike[str], known: Mapping[str, str]) -> RunsReading:
    """Read the runs in a home of rookery, except those with a known stamp, by their names.

    Never raises. Most runs are known: these cost a look at the time of one file.
    """
    reading = RunsReading([], 0, [])
    try:
        folder = Folder.at(Path(os.path.abspath(home)), RUNS)
        if folder is None:
            return reading
        with folder:
            return _read_all(folder, known)
    except RookeryError as error:
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
            try:
                figures = _read(folder, name, stamp)
            except RookeryError as error:
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


def _read(runs: Folder, name: str, stamp: str) -> RunFigures | None:
    """Read a run; None if it was removed meanwhile, or is a demo, which used nothing."""
    folder = runs.open(name)
    if folder is None:
        return None
    with folder:
        info, verdict = load(folder, INFO, RunInfo), load(folder, VERDICT, VerdictInfo)
    if info is None or verdict is None or is_played(info.program):
        return None
    return _figures(name, info, verdict, stamp)


def _figures(name: str, info: RunInfo, verdict: VerdictInfo, stamp: str) -> RunFigures:
    spent, tokens = _spent(info, verdict), verdict.tokens or TokenCounts()
    is_native = verdict.cost_source == "native"
    return RunFigures(
        name=name,
        agent=info.agent,
        session=verdict.session,
        loop=info.loop,
        model=verdict.model or info.model,
        project=None if info.piped else info.cwd,  # the writer of a pipe may work anywhere
        started_at=info.started_at,
        ended_at=verdict.ended_at,
        native_usd=spent if is_native else None,
        estimated_usd=None if is_native else spent,
        input=tokens.input,
        output=tokens.output,
        cache_read=tokens.cache_read,
        cache_write=tokens.cache_write,
        at_least=verdict.cost_at_least,
        stamp=stamp,
    )


def _spent(info: RunInfo, verdict: VerdictInfo) -> float | None:
    """What the run itself spent, of which earlier versions saved only the cost of the session."""
    if verdict.spent_usd is None and not info.continues:
        return verdict.cost_usd
    return verdict.spent_usd
