"""The run that a loop has started and not counted yet, read from the run's folder."""

import time
from contextlib import suppress
from pathlib import Path

import msgspec

from nightrook.loops.plan import Goal
from nightrook.loops.report import report
from nightrook.loops.state import PendingRun, Report
from nightrook.loops.waits.resets import SystemZone
from nightrook.model.errors import NightrookError
from nightrook.model.facts import Facts, RecorderFacts
from nightrook.model.ledger import Source
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict
from nightrook.prices import PriceBook
from nightrook.runs.heal import settle
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder
from nightrook.story.story import state_of


class CurrentRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was started, and what it has spent so far."""

    run: str
    iteration: int
    started_at: float
    ended_at: float | None
    """When the agent ended; its checks run then, unless the loop was killed."""

    spent_usd: float | None
    cost_source: Source


def run_folder(home: Path, loop: str, attempt: int) -> RunFolder | None:
    """The folder of a run that a loop has started; None if the loop did not get that far.

    `attempt` is the number of the run in the loop.
    """
    for folder in newest_first(home):
        with suppress(NightrookError):  # a damaged run is not known to be ours
            info = folder.info()
            if info is not None and (info.loop, info.iteration) == (loop, attempt):
                return folder
    return None


def current_run(home: Path, loop: str, pending: PendingRun) -> CurrentRun | None:
    """Read a run that was started; None if it has no folder."""
    folder = run_folder(home, loop, pending.id)
    info = None if folder is None else folder.info()
    if folder is None or info is None:
        return None
    state, verdict = state_of(folder, info, PriceBook()), folder.verdict()
    return CurrentRun(
        run=folder.name,
        iteration=pending.iteration,
        started_at=pending.started_at,
        ended_at=None if verdict is None else verdict.ended_at,
        spent_usd=None if state is None else state.ledger.spent_usd,
        cost_source="unknown" if state is None else state.ledger.cost.source,
    )


def recovered_report(folder: RunFolder, pending: PendingRun, goal: Goal) -> Report:
    """Read what a run did before a crash cut it short: it is not run, nor paid for, again."""
    kept, info = settle(folder), folder.info()
    state = state_of(folder, info, PriceBook()) if info else None
    verdict = (
        kept.verdict
        if kept
        else Verdict.of("incomplete", Facts(recorder=RecorderFacts(recorder_died=True)))
    )
    if verdict.status == "interrupted":  # rook died, and its agent was stopped for that
        verdict = Verdict.of("incomplete", verdict.facts)
    result = report(
        state or RunState(),
        verdict,
        goal=goal,
        nonce=pending.nonce,
        run=folder.name,
        started_at=pending.started_at,
        ended_at=kept.ended_at if kept else time.time(),
        local=SystemZone(),
    )
    return msgspec.structs.replace(result, recovered=True)
