"""Chooses the runs whose logs are compressed, and those whose logs are restored."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import NamedTuple

from nightrook.model.errors import NightrookError
from nightrook.process.liveness import is_same_process
from nightrook.process.trees import marked
from nightrook.store import removal
from nightrook.store.logs import best_codec
from nightrook.store.packing import Packing, estimate, pack, packed_size, raw_size, unpack
from nightrook.store.removal import Stored
from nightrook.store.run_folder import RunFolder

_SMALLEST = 64 << 10
"""A run with less than this in its logs is not worth it: files take whole blocks of a disk."""


class Choice(NamedTuple):
    """A run whose logs can be compressed or restored."""

    run: Stored
    size: int
    """What its logs take now."""


class Left(NamedTuple):
    """A run that was chosen by name or age, and is left as it is."""

    run: Stored
    why: str


def to_pack(home: str | PathLike[str], *, before: float, keep: int) -> Iterator[Choice | Left]:
    """The runs that have not changed since a time, without the newest ones, newest first."""
    for run in _by_age(home)[keep:]:
        if run.changed <= before:
            yield from _choice(run, _SMALLEST)


def named_to_pack(home: str | PathLike[str], names: Sequence[str]) -> Iterator[Choice | Left]:
    """The runs of these names, whatever their age and size."""
    for name in names:
        yield from _choice(removal.find(home, name), 1)


def to_restore(home: str | PathLike[str], names: Sequence[str]) -> Iterator[Choice]:
    """The runs of these names, or all, whose logs are compressed."""
    runs = [removal.find(home, name) for name in names] if names else _by_age(home)
    for run in runs:
        try:
            size = packed_size(run.path)
        except NightrookError:
            continue  # it is damaged: `rook runs` says so
        if size:
            yield Choice(run, size)


def expected_size(run: Stored) -> int:
    """About how much the logs of a run will take when they are compressed."""
    return estimate(run.path, best_codec())


def compress(run: Stored) -> Packing:
    """Compress the logs of a run; a NightrookError says why that was not possible."""
    if (why := _obstacle(run)) is not None:  # it may have changed since it was chosen
        raise NightrookError(why)
    return pack(run.path, best_codec(), _digests(run))


def restore(run: Stored) -> Packing:
    """Write the logs of a run as they were."""
    return unpack(run.path, _digests(run))


def _by_age(home: str | PathLike[str]) -> list[Stored]:
    runs = {run: run.changed for run in removal.everything(home) if run.kind == "run"}
    return sorted(runs, key=lambda run: (-runs[run], run.name))


def _choice(run: Stored, least: int) -> Iterator[Choice | Left]:
    try:
        size = raw_size(run.path)
    except NightrookError as error:
        yield Left(run, str(error))
        return
    if size < least:
        return
    why = _obstacle(run)
    yield Choice(run, size) if why is None else Left(run, why)


def _obstacle(run: Stored) -> str | None:
    """Why the logs of a run cannot be compressed now; None if they can."""
    if run.kind != "run":
        return f"{run.name} is a {run.kind}, which has no logs of its own"
    try:
        if RunFolder(run.path).verdict() is None:
            return f"run {run.name} has not ended"
    except NightrookError as error:
        return str(error)
    return removal.obstacle(run, alive=is_same_process, marked=marked)


def _digests(run: Stored) -> dict[str, str]:
    """The digests of the logs that the recorder wrote, as far as they are known."""
    exit = RunFolder(run.path).exit()
    return {} if exit is None else {log: written.sha256 for log, written in exit.logs.items()}
