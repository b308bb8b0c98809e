"""Removes the folders of runs that the server has: a worker's disk is bounded."""

import asyncio
import time
from contextlib import suppress
from typing import NamedTuple

from nightrook.fleet.worker.journal import Entry, Journal
from nightrook.model.errors import NightrookError
from nightrook.store.file_names import RUNS
from nightrook.store.list import Stored
from nightrook.store.removal import remove

AGAIN_S = 600.0
"""A run that was reported more recently stays: the boss may ask for bytes again."""


class Keep(NamedTuple):
    """The age and the size up to which confirmed runs stay on a worker."""

    seconds: float = 7 * 86_400.0
    size: int = 10_000_000_000
    """The bytes of all these folders together."""


USUAL = Keep()


async def prunes(journal: Journal, keep: Keep) -> None:
    """Prune now and every ten minutes, until the task is cancelled."""
    while True:
        await asyncio.to_thread(prune, journal, keep)
        await asyncio.sleep(AGAIN_S)


def prune(journal: Journal, keep: Keep, now: float | None = None) -> list[str]:
    """Remove reported runs that are too old or too many, the oldest first; return their names.

    A run that the server does not have whole is never removed.
    """
    now = time.time() if now is None else now
    # guards: only-reported-removed
    reported = [(journal.saved_at(each), each) for each in journal.entries() if each.is_reported]
    size, removed = 0, []
    for saved_at, entry in sorted(reported, key=lambda each: each[0], reverse=True):
        size += _size(journal, entry)
        age = now - saved_at
        if age > keep.seconds or (size > keep.size and age > AGAIN_S):
            with suppress(NightrookError, OSError):  # the next time, perhaps
                _remove(journal, entry)
                removed.append(entry.job.id)
    return removed


def _stored(journal: Journal, entry: Entry) -> Stored | None:
    """The folder of an entry's run; None if it has none, or it was removed before."""
    if entry.folder is None:
        return None
    stored = Stored("run", journal.home / RUNS / entry.folder)
    return stored if stored.path.is_dir() else None


def _size(journal: Journal, entry: Entry) -> int:
    stored = _stored(journal, entry)
    return 0 if stored is None else stored.size


def _remove(journal: Journal, entry: Entry) -> None:
    if (stored := _stored(journal, entry)) is not None:
        remove(stored)
    journal.forget(entry)
