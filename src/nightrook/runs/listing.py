"""Lists runs as they are now, including running ones: `nightrook.list_runs`."""

import os
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from nightrook.model.durations import elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.snapshot import TokenCounts
from nightrook.model.status import ListedStatus
from nightrook.store.filters import Filter
from nightrook.store.home import home_folder
from nightrook.store.list import (
    NewestFirst,
    ReadRun,
    Row,
    ended_row,
    find_run,
    run_row,
    started_row,
)
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo

if TYPE_CHECKING:
    from nightrook.model.state import RunState  # lists of runs that have ended need none


class RunList(NamedTuple):
    """The selected runs, and the number of further ones."""

    runs: list[Row]
    more: int


def list_runs(
    *,
    limit: int | None = None,
    agent: str | None = None,
    status: ListedStatus | None = None,
    cwd: str | os.PathLike[str] | None = None,
    since: float | None = None,
    home: str | os.PathLike[str] | None = None,
) -> list[Row]:
    """List the recorded runs, newest first, at most `limit` of them.

    `agent`, `status`, `cwd` (that folder and all below it) and `since` (seconds since 1970) leave
    out the others. `home` is the folder that holds all runs; by default $ROOK_HOME or the
    user's data folder. A run that cannot be read is listed as damaged.
    """
    folder = None if cwd is None else os.path.abspath(cwd)
    wanted = Filter(agent=agent, status=status, cwd=folder, since=since)
    return list(islice(_wanted(NewestFirst(home or home_folder()), wanted), limit))


def listed_runs(wanted: Filter, limit: int | None) -> RunList:
    """List the wanted runs, newest first, and count those beyond the limit."""
    every = NewestFirst(home_folder())
    matching = _wanted(every, wanted)
    first = list(islice(matching, limit))
    if wanted == Filter():  # counted without reading them
        return RunList(first, len(every) - len(first))
    return RunList(first, sum(1 for _ in matching))


def running_runs(*, without: Collection[str]) -> list[Row]:
    """List the runs that are running, newest first, without those of these loops and batches."""
    unfinished = NewestFirst(home_folder(), only_unfinished=True)
    rows = (listed(run) for run in unfinished if not run.info or run.info.loop not in without)
    return [row for row in rows if row.status == "running"]


def running_run(folder: RunFolder) -> Row | None:
    """A run as it is in lists, if it is running."""
    info = folder.info()
    if info is None or folder.verdict() is not None:
        return None
    row = _unfinished(folder, info)
    return row if row.status == "running" else None


def combined(names: Iterable[str]) -> Row:
    """Sum up runs that belong together as one row; removed runs are left out."""
    found = []
    for name in names:
        with suppress(NightrookError):
            folder = find_run(home_folder(), name)
            found.append(listed(ReadRun(folder, folder.info())))
    last = found[-1] if found else Row(name="", status="not kept", what="")
    files = dict.fromkeys(file for run in found for file in run.files or ())
    known = [run.tokens for run in found if run.tokens is not None]
    return msgspec.structs.replace(
        last, tokens=_sum(known) if known else None, files=tuple(files) if found else None
    )


def listed(run: ReadRun) -> Row:
    """A run as it is in lists; one whose processes died is judged first."""
    return run_row(run, _unfinished)


def _wanted(every: Iterable[ReadRun], wanted: Filter) -> Iterator[Row]:
    for run in every:
        if wanted.since is not None and run.started_at < wanted.since:
            return  # and so did all that follow
        row = listed(run)
        if row.is_wanted(wanted):
            yield row


def _unfinished(folder: RunFolder, info: RunInfo) -> Row:
    """A run that is running, or whose processes died: then it is judged now, if that is possible.

    That may have failed on a full disk.
    """
    from nightrook.prices import PriceBook
    from nightrook.runs.crash_recovery import is_cared_for, recovered
    from nightrook.story.story import state_of  # the lists of most days need none of it

    if (verdict := recovered(folder).verdict()) is not None:
        return ended_row(folder.name, info, verdict)
    state = state_of(folder, info, PriceBook())
    status: ListedStatus = "running" if is_cared_for(folder) else "not kept"
    row = started_row(folder.name, info, status)
    return with_state(row, state)


def with_state(row: Row, state: "RunState | None") -> Row:
    """A run that has no verdict, with the state of its stream so far."""
    seconds = elapsed_s(row.started_at, time.time())
    if state is None:
        return msgspec.structs.replace(row, seconds=seconds)
    cost = state.ledger.cost
    return msgspec.structs.replace(
        row,
        seconds=seconds,
        cost_usd=cost.usd,
        spent_usd=state.ledger.spent_usd,
        cost_source=cost.source,
        cost_at_least=cost.at_least,
        model=state.model or row.model,
        tokens=state.token_counts,
        session=state.session,
        files=tuple(state.files),
    )


def _sum(counts: Iterable[TokenCounts]) -> TokenCounts:
    """Add all tokens; a kind that none of them reports stays unknown."""
    sums: dict[str, int] = {}
    for each in counts:
        for kind in TokenCounts.__struct_fields__:
            if (number := getattr(each, kind)) is not None:
                sums[kind] = sums.get(kind, 0) + number
    return TokenCounts(**sums)
