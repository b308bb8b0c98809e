"""Lists the recorded runs: `nightrook.list_runs` and `rook runs`."""

import os
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

import msgspec

from nightrook.model.durations import elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money, Source
from nightrook.model.snapshot import TokenCounts
from nightrook.model.status import ListedStatus
from nightrook.store.home import home_folder
from nightrook.store.list import NewestFirst, ReadRun, find_run
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, VerdictInfo


class ListedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. What an earlier version of rook did not record is None."""

    name: str
    agent: str | None = None
    called: str | None = None
    """The user's name for the agent; None if it has none."""

    status: ListedStatus
    started_at: float | None = None
    """In seconds since 1970."""

    seconds: float | None = None
    cost_usd: float | None = None
    """As its agent reports it: of a resumed session, maybe with what earlier runs spent."""

    spent_usd: float | None = None
    """What this run has spent, so far if it is running."""

    cost_source: Source = "unknown"
    cost_at_least: bool = False
    """Whether the agent does not report all that it spent."""

    cwd: str | None = None
    model: str | None = None
    tokens: TokenCounts | None = None
    session: str | None = None
    """The agent's own id of the session."""

    exit_code: int | None = None
    """The exit code of `rook run`; None while it runs."""

    files: tuple[str, ...] | None = None
    """The files that the agent reported as changed, at most the first 200."""

    what: str
    """The prompt or the command; of a damaged run, what is wrong with it."""

    @property
    def spent(self) -> Money:
        """What this run has spent, and how certain that is."""
        source: Source = "native" if self.cost_source == "native" else "estimated"
        return Money(self.spent_usd, source, self.cost_at_least)


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs to list; None means any."""

    agent: str | None = None
    """The name of the agent, or the user's own name for it."""

    status: ListedStatus | None = None
    cwd: str | None = None
    """A folder: runs in it and below it."""

    since: float | None = None
    """The earliest start, in seconds since 1970."""

    @property
    def takes_all(self) -> bool:
        """Whether no run is left out."""
        return self == RunFilter()

    def takes(self, run: ListedRun) -> bool:
        """Whether a run is to be listed."""
        return (
            self.agent in (None, run.agent, run.called)
            and self.status in (None, run.status)
            and (self.cwd is None or is_below(run.cwd, self.cwd))
        )


class RunList(NamedTuple):
    """The runs that were asked for, and how many more there are."""

    runs: list[ListedRun]
    more: int


def list_runs(
    *,
    limit: int | None = None,
    agent: str | None = None,
    status: ListedStatus | None = None,
    cwd: str | os.PathLike[str] | None = None,
    since: float | None = None,
    home: str | os.PathLike[str] | None = None,
) -> list[ListedRun]:
    """List the recorded runs, newest first, at most `limit` of them.

    `agent`, `status`, `cwd` (that folder and all below it) and `since` (seconds since 1970) leave
    out the others. `home` is the folder that holds all runs; by default $ROOK_HOME or the
    user's data folder. A run that cannot be read is listed as damaged.
    """
    folder = None if cwd is None else os.path.abspath(cwd)
    wanted = RunFilter(agent=agent, status=status, cwd=folder, since=since)
    return list(islice(_wanted(NewestFirst(home or home_folder()), wanted), limit))


def listed_runs(wanted: RunFilter, limit: int | None) -> RunList:
    """List the wanted runs, newest first, and count those beyond the limit."""
    every = NewestFirst(home_folder())
    matching = _wanted(every, wanted)
    first = list(islice(matching, limit))
    if wanted.takes_all:  # counted without reading them
        return RunList(first, len(every) - len(first))
    return RunList(first, sum(1 for _ in matching))


def running_runs(*, without: Collection[str]) -> list[ListedRun]:
    """List the runs that are running, newest first, without those of these loops and batches."""
    unfinished = NewestFirst(home_folder(), only_unfinished=True)
    rows = (listed(run) for run in unfinished if not run.info or run.info.loop not in without)
    return [row for row in rows if row.status == "running"]


def running_run(folder: RunFolder) -> ListedRun | None:
    """A run as it is in lists, if it is running."""
    info = folder.info()
    if info is None or folder.verdict() is not None:
        return None
    row = _without_verdict(folder, info)
    return row if row.status == "running" else None


def combined(names: Iterable[str]) -> ListedRun:
    """What runs that belong together have used and changed, as one; those removed are left out."""
    found = []
    for name in names:
        with suppress(NightrookError):
            folder = find_run(home_folder(), name)
            found.append(_read(folder, folder.info()))
    last = found[-1] if found else ListedRun(name="", status="not kept", what="")
    files = dict.fromkeys(file for run in found for file in run.files or ())
    known = [run.tokens for run in found if run.tokens is not None]
    return msgspec.structs.replace(
        last, tokens=_sum(known) if known else None, files=tuple(files) if found else None
    )


def _wanted(every: Iterable[ReadRun], wanted: RunFilter) -> Iterator[ListedRun]:
    for run in every:
        if wanted.since is not None and run.started_at < wanted.since:
            return  # and so did all that follow
        row = listed(run)
        if wanted.takes(row):
            yield row


def is_below(path: str | None, folder: str) -> bool:
    """Whether a path is a folder or in it."""
    return path is not None and f"{path}/".startswith(f"{folder.rstrip('/')}/")


def listed(run: ReadRun) -> ListedRun:
    """A run as it is in lists; one that cannot be read is damaged."""
    try:
        if run.problem is not None:
            raise run.problem
        return _read(run.folder, run.info)
    except NightrookError as error:
        return ListedRun(name=run.folder.name, status="damaged", what=str(error))


def _read(folder: RunFolder, info: RunInfo | None) -> ListedRun:
    verdict = folder.verdict()
    if info is None:
        return ListedRun(
            name=folder.name,
            status=verdict.status if verdict else "damaged",
            what="it has no run.json",
        )
    if verdict is None:
        return _without_verdict(folder, info)
    return _ended(folder.name, info, verdict)


def _ended(name: str, info: RunInfo, verdict: VerdictInfo) -> ListedRun:
    ending = verdict.ending(info)
    return ListedRun(
        name=name,
        agent=info.agent,
        called=info.called,
        status=verdict.status,
        started_at=info.started_at,
        seconds=ending.duration_s,
        cost_usd=verdict.cost_usd,
        spent_usd=verdict.spent_usd,
        cost_source=verdict.cost_source,
        cost_at_least=verdict.cost_at_least,
        cwd=info.cwd,
        model=verdict.model or info.model,
        tokens=verdict.tokens,
        session=verdict.session,
        exit_code=ending.exit_code,
        files=None if verdict.files is None else tuple(verdict.files),
        what=_what(info),
    )


def _without_verdict(folder: RunFolder, info: RunInfo) -> ListedRun:
    """A run that is running, or whose processes died: then it is judged now, if that is possible.

    That may have failed on a full disk.
    """
    from nightrook.prices import PriceBook
    from nightrook.runs.heal import healed, is_cared_for
    from nightrook.story.story import state_of  # the lists of most days need none of it

    if (verdict := healed(folder).verdict()) is not None:
        return _ended(folder.name, info, verdict)
    state = state_of(folder, info, PriceBook())
    cost = state.ledger.cost if state else None
    return ListedRun(
        name=folder.name,
        agent=info.agent,
        called=info.called,
        status="running" if is_cared_for(folder) else "not kept",
        started_at=info.started_at,
        seconds=elapsed_s(info.started_at, time.time()),
        cost_usd=cost.usd if cost else None,
        spent_usd=state.ledger.spent_usd if state else None,
        cost_source=cost.source if cost else "unknown",
        cost_at_least=cost is not None and cost.at_least,
        cwd=info.cwd,
        model=(state.model if state else None) or info.model,
        tokens=state.token_counts if state else None,
        session=state.session if state else None,
        files=tuple(state.files) if state else None,
        what=_what(info),
    )


def _sum(counts: Iterable[TokenCounts]) -> TokenCounts:
    """All tokens together; a kind that none of them reports stays unknown."""
    sums: dict[str, int] = {}
    for each in counts:
        for kind in TokenCounts.__struct_fields__:
            if (number := getattr(each, kind)) is not None:
                sums[kind] = sums.get(kind, 0) + number
    return TokenCounts(**sums)


def _what(info: RunInfo) -> str:
    return "(piped)" if info.piped else info.prompt or " ".join(info.command)
