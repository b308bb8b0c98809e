"""Removes runs, loops and batches: their parts, the obstacles, and the order."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from os import PathLike
from pathlib import Path

from nightrook.model.errors import NightrookError, RunFolderError
from nightrook.model.text import suggested
from nightrook.store.batch_folder import BatchFolder
from nightrook.store.file_names import NEW
from nightrook.store.files import Folder
from nightrook.store.folders import BATCHES, LOOPS, NamedFolder
from nightrook.store.list import Stored, find, runs_of
from nightrook.store.names import is_name
from nightrook.store.packing import is_pinned
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import at_work

_WORKTREE = "worktree"


def with_parts(home: str | PathLike[str], chosen: Iterable[Stored]) -> list[Stored]:
    """Add the loops of the batches, and the runs of the loops and batches, that are chosen."""
    found = dict.fromkeys(chosen)
    for batch in [each for each in found if each.kind == "batch"]:
        with suppress(NightrookError):  # a damaged batch does not name its loops
            for result in BatchFolder(batch.path).results():
                with suppress(NightrookError):
                    found |= {find(home, result.loop): None} if result.loop else {}
    owners = {each.name for each in found if each.kind != "run"}
    for folder, info, _ in runs_of(home) if owners else ():
        if info is not None and info.loop in owners:
            found[Stored("run", folder.path)] = None
    return list(found)


def obstacle(
    stored: Stored,
    *,
    alive: Callable[[int, int | None], bool],
    marked: Callable[[str], list[int]],
) -> str | None:
    """Return why something cannot be removed now; None if it can.

    `alive` says whether a process lives; `marked` finds those with a run's marker.
    """
    if stored.kind == "run":
        return _obstacle_of_run(RunFolder(stored.path), alive, marked)
    if _is_locked(stored.path):  # guards: running-loop-kept
        return f"{stored.name} is running: stop it first"
    if os.path.lexists(stored.path / _WORKTREE):  # guards: worktree-kept
        return (
            f"{stored.name} has a git worktree with its work: remove it first with  "
            f"git worktree remove {stored.path / _WORKTREE}"
        )
    return None


def remove(stored: Stored) -> None:
    """Remove a run, loop or batch: it vanishes in one step, then its files are deleted."""
    parent = stored.path.parent
    with Folder.made(parent.parent) as top, top.own(parent.name) as folders, top.own(NEW) as new:
        condemned = f"removed-{os.urandom(8).hex()}"
        if not folders.move(stored.name, new, condemned):
            raise RunFolderError(str(stored.path), "could not be moved away")
        new.remove(condemned)
        if condemned in new.folders():
            left = str(new.path / condemned)
            raise RunFolderError(left, f"holds what could not be deleted of {stored.name}")


def _obstacle_of_run(
    folder: RunFolder,
    alive: Callable[[int, int | None], bool],
    marked: Callable[[str], list[int]],
) -> str | None:
    try:
        info, ended = folder.info(), folder.verdict() is not None
    except NightrookError:  # its processes are unknown
        info, ended = None, False
    if is_pinned(folder.path):  # guards: pinned-kept
        return f"run {folder.name} is pinned: unpin it first with  rook gc --unpin {folder.name}"
    works = at_work(info, alive) if info is not None else False
    # guards: running-run-kept, damaged-run-kept
    if works or (not ended and marked(str(folder.path))):
        stop = suggested("stop", folder.name)
        return f"run {folder.name} is running: stop it first with  {stop}"
    owner = info.loop if info is not None else None
    for kind in (LOOPS, BATCHES) if owner is not None and is_name(owner) else ():
        path = folder.path.parent.parent / kind.parent / str(owner)
        if path.exists() and _is_locked(path):
            return f"run {folder.name} is part of {owner}, which is running"
    return None


def _is_locked(path: Path) -> bool:
    """True if a process runs a loop or a batch; a damaged one has no lock to hold."""
    try:
        with NamedFolder(path).lock() as acquired:
            return not acquired
    except NightrookError:
        return False
