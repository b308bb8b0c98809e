"""Compression and restoring of the logs of runs.

A run that has not ended, is pinned or is damaged is left as it is; how the logs are packed without
a risk to them is in `store/packing.py`.
"""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import NamedTuple

from nightrook.model.errors import NightrookError
from nightrook.process.liveness import is_same_process
from nightrook.process.trees import marked
from nightrook.store import removal
from nightrook.store.list import Stored, everything, find
from nightrook.store.logs import best_codec
from nightrook.store.packing import Packing, estimate, pack, packed_size, raw_size, unpack
from nightrook.store.run_folder import RunFolder

_SMALLEST = 64 << 10
"""A run with less than this in its logs is not worth it: files take whole blocks of a disk."""


class Candidate(NamedTuple):
    """A run whose logs can be compressed or restored."""

    run: Stored
    size: int
    """Bytes its logs take now."""


class Skipped(NamedTuple):
    """A run that was chosen by name or age, and is left as it is."""

    run: Stored
    why: str


def logs_to_compress(
    home: str | PathLike[str], *, before: float, keep: int
) -> Iterator[Candidate | Skipped]:
    """The runs that have not changed since a time, without the newest ones, newest first."""
    for run in _by_age(home)[keep:]:
        if run.changed <= before:
            yield from _candidate(run, _SMALLEST)


def named_logs_to_compress(
    home: str | PathLike[str], names: Sequence[str]
) -> Iterator[Candidate | Skipped]:
    """The runs of these names, whatever their age and size."""
    for name in names:
        yield from _candidate(find(home, name), 1)


def logs_to_restore(home: str | PathLike[str], names: Sequence[str]) -> Iterator[Candidate]:
    """The runs of these names, or all, whose logs are compressed."""
    runs = [find(home, name) for name in names] if names else _by_age(home)
    for run in runs:
        try:
            size = packed_size(run.path)
        except NightrookError:
            continue  # it is damaged: `rook runs` says so
        if size:
            yield Candidate(run, size)


def expected_size(run: Stored) -> int:
    """About how much the logs of a run will take when they are compressed."""
    return estimate(run.path, best_codec())


def compress_logs(run: Stored) -> Packing:
    """Compress the logs of a run; a NightrookError says why that was not possible."""
    if (why := _why_not(run)) is not None:  # it may have changed since it was chosen
        raise NightrookError(why)
    return pack(run.path, best_codec(), _digests(run))


def restore_logs(run: Stored) -> Packing:
    """Write the logs of a run as they were."""
    return unpack(run.path, _digests(run))


def _by_age(home: str | PathLike[str]) -> list[Stored]:
    runs = {run: run.changed for run in everything(home) if run.kind == "run"}
    return sorted(runs, key=lambda run: (-runs[run], run.name))


def _candidate(run: Stored, least: int) -> Iterator[Candidate | Skipped]:
    try:
        size = raw_size(run.path)
    except NightrookError as error:
        yield Skipped(run, str(error))
        return
    if size < least:
        return
    why = _why_not(run)
    yield Candidate(run, size) if why is None else Skipped(run, why)


def _why_not(run: Stored) -> str | None:
    """Why the logs of a run cannot be compressed now; None if they can."""
    if run.kind != "run":
        return f"{run.name} is a {run.kind}, which has no logs of its own"
    try:
        if RunFolder(run.path).verdict() is None:  # guards: running-run-unpacked
            return f"run {run.name} has not ended"
    except NightrookError as error:
        return str(error)
    return removal.obstacle(run, alive=is_same_process, marked=marked)


def _digests(run: Stored) -> dict[str, str]:
    """The digests of the logs that the recorder wrote, as far as they are known."""
    exit = RunFolder(run.path).exit()
    return {} if exit is None else {log: written.sha256 for log, written in exit.logs.items()}
