"""What `rook gc` does: compresses the logs of old runs, and forgets texts that search keeps."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import NamedTuple, Protocol, TypeVar

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


class Choice(NamedTuple):
    """A run whose logs can be compressed or restored."""

    run: Stored
    size: int
    """What its logs take now."""


class Left(NamedTuple):
    """A run that was chosen by name or age, and is left as it is."""

    run: Stored
    why: str


def logs_to_compress(
    home: str | PathLike[str], *, before: float, keep: int
) -> Iterator[Choice | Left]:
    """The runs that have not changed since a time, without the newest ones, newest first."""
    for run in _by_age(home)[keep:]:
        if run.changed <= before:
            yield from _choice(run, _SMALLEST)


def named_logs_to_compress(
    home: str | PathLike[str], names: Sequence[str]
) -> Iterator[Choice | Left]:
    """The runs of these names, whatever their age and size."""
    for name in names:
        yield from _choice(find(home, name), 1)


def logs_to_restore(home: str | PathLike[str], names: Sequence[str]) -> Iterator[Choice]:
    """The runs of these names, or all, whose logs are compressed."""
    runs = [find(home, name) for name in names] if names else _by_age(home)
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


def compress_logs(run: Stored) -> Packing:
    """Compress the logs of a run; a NightrookError says why that was not possible."""
    if (why := _obstacle(run)) is not None:  # it may have changed since it was chosen
        raise NightrookError(why)
    return pack(run.path, best_codec(), _digests(run))


def restore_logs(run: Stored) -> Packing:
    """Write the logs of a run as they were."""
    return unpack(run.path, _digests(run))


def _by_age(home: str | PathLike[str]) -> list[Stored]:
    runs = {run: run.changed for run in everything(home) if run.kind == "run"}
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
        if RunFolder(run.path).verdict() is None:  # guards: running-run-unpacked
            return f"run {run.name} has not ended"
    except NightrookError as error:
        return str(error)
    return removal.obstacle(run, alive=is_same_process, marked=marked)


def _digests(run: Stored) -> dict[str, str]:
    """The digests of the logs that the recorder wrote, as far as they are known."""
    exit = RunFolder(run.path).exit()
    return {} if exit is None else {log: written.sha256 for log, written in exit.logs.items()}


_MS = 1000


class TextBlock(NamedTuple):
    """Texts that are compressed together."""

    id: int
    size: int
    at: float
    """When the last of them was written, in seconds since 1970; 0 if none is found any more."""


def kept_texts(connection: sqlite3.Connection) -> list[TextBlock]:
    """All blocks of kept texts, the newest first."""
    rows = connection.execute(
        "SELECT id, length(text), iif(forgotten, 0, last_at) FROM blocks WHERE text IS NOT NULL"
    )
    found = [TextBlock(id, size, at_ms / _MS) for id, size, at_ms in rows]
    return sorted(found, key=lambda block: -block.at)


def forget_texts(connection: sqlite3.Connection, chosen: list[TextBlock]) -> None:
    """Forget texts in one step, then return their space to the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        ids = ((block.id,) for block in chosen)
        connection.executemany("UPDATE blocks SET text = NULL WHERE id = ?", ids)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class _Aged(Protocol):
    """Something that takes space and has a time, in seconds since 1970; 0 if it is of no use."""

    @property
    def size(self) -> int: ...

    @property
    def at(self) -> float: ...


Kept = TypeVar("Kept", bound=_Aged)


def to_forget(found: Iterable[Kept], *, before: float | None, most: int | None) -> list[Kept]:
    """What is from before a time, and the oldest until the rest has at most a size.

    What is of no use always goes. The newest come first in what was found.
    """
    chosen, total = [], 0
    for each in found:
        total += each.size
        is_old = before is not None and each.at < before
        if is_old or not each.at or (most is not None and total > most):
            chosen.append(each)
    return chosen
