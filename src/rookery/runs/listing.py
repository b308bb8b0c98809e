"""Lists the recorded runs: `rookery.list_runs` and `rook runs`."""

import os
import time
from itertools import islice
from typing import Literal

import msgspec

from rookery.model.errors import RookeryError
from rookery.model.ledger import Source
from rookery.model.verdict import Outcome
from rookery.runs.heal import healed, is_cared_for
from rookery.store import runs
from rookery.store.home import home_folder
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import RunInfo

ListedStatus = Outcome | Literal["running", "damaged", "not kept"]
"""How a run ended, that it is running, or why that is unknown."""


class ListedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list."""

    name: str
    agent: str | None
    called: str | None
    """The user's name for the agent; None if it has none."""

    status: ListedStatus
    started_at: float | None
    """In seconds since 1970."""

    seconds: float | None
    cost_usd: float | None
    """As its agent reports it: of a resumed session, maybe with what earlier runs spent."""

    spent_usd: float | None
    cost_source: Source
    cost_at_least: bool = False
    """Whether the agent does not report all that it spent."""

    what: str
    """The prompt or the command; of a damaged run, what is wrong with it."""


def list_runs(
    *, limit: int | None = None, home: str | os.PathLike[str] | None = None
) -> list[ListedRun]:
    """List the recorded runs, newest first, at most `limit` of them.

    `home` is the folder that holds all runs; by default $ROOKERY_HOME or the user's data folder. A
    run that cannot be read is listed as damaged.
    """
    newest = runs.newest_first(home or home_folder())
    return [_listed(folder) for folder in islice(newest, limit)]


def _listed(folder: RunFolder) -> ListedRun:
    try:
        return _read(healed(folder))
    except RookeryError as error:
        return ListedRun(
            name=folder.name,
            agent=None,
            called=None,
            status="damaged",
            started_at=None,
            seconds=None,
            cost_usd=None,
            spent_usd=None,
            cost_source="unknown",
            what=str(error),
        )


def _read(folder: RunFolder) -> ListedRun:
    info, verdict = folder.info(), folder.verdict()
    started = info.started_at if info else None
    ended = verdict.ended_at if verdict else time.time()
    return ListedRun(
        name=folder.name,
        agent=info.agent if info else None,
        called=info.called if info else None,
        status=verdict.status if verdict else _without_verdict(folder, info),
        started_at=started,
        seconds=None if started is None else max(0.0, ended - started),
        cost_usd=verdict.cost_usd if verdict else None,
        spent_usd=verdict.spent_usd if verdict else None,
        cost_source=verdict.cost_source if verdict else "unknown",
        cost_at_least=verdict is not None and verdict.cost_at_least,
        what=_what(info) if info else "it has no run.json",
    )


def _without_verdict(folder: RunFolder, info: RunInfo | None) -> ListedStatus:
    """The status of a run without a verdict: its processes may have died on a full disk."""
    if info is None:
        return "damaged"
    return "running" if is_cared_for(folder) else "not kept"


def _what(info: RunInfo) -> str:
    return "(piped)" if info.piped else info.prompt or " ".join(info.command)
