"""The run that a loop has begun and not counted yet, as far as its folder tells."""

from pathlib import Path

import msgspec

from rookery.loops.state import Begun
from rookery.model.ledger import Source
from rookery.prices import PriceBook
from rookery.runs.healing import state_of
from rookery.store import runs
from rookery.store.runs import RunFolder


class Going(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was begun, and what it has spent by now."""

    run: str
    iteration: int
    started_at: float
    ended_at: float | None
    """When the agent ended; then its checks are run, unless the loop was cut off."""

    spent_usd: float | None
    cost_source: Source


def folder_of(home: Path, loop: str, begun: Begun) -> RunFolder | None:
    """The folder of a run that a loop has begun; None if it did not come to that."""
    for folder in runs.runs(home):
        info = folder.info()
        if info is not None and (info.loop, info.iteration) == (loop, begun.id):
            return folder
    return None


def going(home: Path, loop: str, begun: Begun) -> Going | None:
    """What a begun run tells by now; None if it has no folder."""
    folder = folder_of(home, loop, begun)
    info = None if folder is None else folder.info()
    if folder is None or info is None:
        return None
    state, verdict = state_of(folder, info, PriceBook()), folder.verdict()
    return Going(
        run=folder.name,
        iteration=begun.iteration,
        started_at=begun.started_at,
        ended_at=None if verdict is None else verdict.ended_at,
        spent_usd=None if state is None else state.ledger.spent_usd,
        cost_source="unknown" if state is None else state.ledger.cost.source,
    )
