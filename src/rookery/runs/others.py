"""Runs that others see to: one whose processes died gets its end, one that goes on can be ended."""

import os
import signal
import time

from rookery.model.errors import RookeryError
from rookery.prices import PriceBook
from rookery.process import trees
from rookery.runs.healing import heal
from rookery.store import runs
from rookery.store.runs import RunFolder, VerdictInfo

_SETTLE_S = 15.0
_SETTLE_LOOK_S = 0.05


def healed(folder: RunFolder) -> RunFolder:
    """A folder whose processes died gets the verdict that nobody could write.

    Whoever of its agent's tree outlived them is ended.
    """
    if heal(folder, alive=runs.is_alive, now=time.time(), prices=PriceBook()):
        trees.kill_marked(str(folder.path))
    return folder


def settle(folder: RunFolder) -> VerdictInfo | None:
    """End what is left of a run whose runner died; give its verdict, None if it gets none."""
    trees.kill_marked(str(folder.path))
    patience = time.monotonic() + _SETTLE_S
    while (verdict := healed(folder).verdict()) is None and time.monotonic() < patience:
        time.sleep(_SETTLE_LOOK_S)  # its recorder is about to end
    return verdict


def is_seen_to(folder: RunFolder) -> bool:
    """Whether a run has its verdict, or somebody at work who will write one."""
    info = folder.info()
    at_work = info is not None and runs.at_work(info, runs.is_alive)
    return at_work or folder.verdict() is not None  # asked last: it may have come meanwhile


def ask_to_stop(folder: RunFolder) -> None:
    """Ask a run to end; a RookeryError says that it is not going on."""
    info = folder.info()
    # Its recorder, not its runner: that may be a program of the user's with other work to do.
    pid = info.recorder_pid if info else None
    if info is None or pid is None or not runs.is_alive(pid, info.recorder_ticks):
        raise RookeryError(f"run {folder.name!r} is not going on")
    os.kill(pid, signal.SIGTERM)
