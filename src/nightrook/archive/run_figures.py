"""Finds the runs of rook that have ended since the last import, and reads their usage."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from nightrook.archive.ledger.runs import RunFigures
from nightrook.model.errors import NightrookError
from nightrook.store.file_names import INFO, RUNS, VERDICT
from nightrook.store.files import Folder
from nightrook.store.names import is_name


class RunsReading(NamedTuple):
    """The runs that have ended and were not known."""

    runs: list[RunFigures]
    unfinished: int
    """Number of runs without a verdict; they are left out."""

    problems: list[str]
    """Runs that could not be read, each with the reason."""


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
            try:
                figures = _run_figures(folder, name, stamp)
            except NightrookError as error:
                problems.append(str(error))
            else:
                runs += [figures] if figures else []
    return RunsReading(runs, unfinished, problems)


def _stamp(run: Path) -> str | None:
    """Return a stamp that changes with a run's verdict; None if it has none."""
    try:
        verdict = os.lstat(f"{run}/{VERDICT}")
    except OSError:
        return None
    return f"{verdict.st_mtime_ns} {verdict.st_size} {verdict.st_ino}"


def _run_figures(runs: Folder, name: str, stamp: str) -> RunFigures | None:
    """Read a run; None if it was removed meanwhile, or is a demo, which used nothing."""
    from nightrook.model.snapshot import TokenCounts  # most reports have no new run
    from nightrook.process.demo_player import is_played
    from nightrook.store.run_folder import load
    from nightrook.store.run_formats import RunInfo, VerdictInfo

    folder = runs.open(name)
    if folder is None:
        return None
    with folder:
        info, verdict = load(folder, INFO, RunInfo), load(folder, VERDICT, VerdictInfo)
    if info is None or verdict is None or is_played(info.program):
        return None
    spent, tokens = verdict.spent_usd, verdict.tokens or TokenCounts()
    if spent is None and not info.continues:  # earlier versions saved only the cost of the session
        spent = verdict.cost_usd
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
