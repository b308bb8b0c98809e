"""Reads batches from their folders as they are now: each task, its run and its cost."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from nightrook.batches.queue import FolderQueue, loops_of
from nightrook.batches.tasks import BatchTask
from nightrook.loops.storage import LoopFolder
from nightrook.model.durations import elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Source, least_certain
from nightrook.model.price import dollars, nano
from nightrook.model.text import count
from nightrook.runs.listing import listed
from nightrook.store.batch_folder import BatchFolder, BatchResult
from nightrook.store.folders import BATCHES
from nightrook.store.list import Row, runs_of

_CLOCK_STEP_S = 3600.0  # by which the clock may have been set back since the batch was made


class ListedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of a batch, as it is now."""

    id: str
    prompt: str
    status: str
    """Outcome, or `running`, `waiting` (for its turn) or `not done`."""

    ok: bool | None = None
    """True if it succeeded; None until it has ended."""

    exit_code: int | None = None
    sentence: str = ""
    run: str | None = None
    """Name of its run; for a loop, the last one."""

    loop: str | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    duration_s: float | None = None

    @property
    def has_started(self) -> bool:
        """True if it has run, so that it may have cost something."""
        return self.status not in ("not_started", "waiting", "not done")


class ListedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch and its tasks, as they are now."""

    batch: str
    status: str
    """`running`, `success`, `failed` or `interrupted`; `damaged` if it cannot be read."""

    created_at: float
    """Start in seconds since 1970."""

    done: int = 0
    failed: int = 0
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    unknown_costs: int = 0
    """Number of tasks that ran without reporting their cost."""

    tasks: tuple[ListedTask, ...] = ()
    problem: str | None = None
    """Reason why it cannot be read."""


def list_batches(home: Path) -> list[ListedBatch]:
    """List all batches, the newest first."""
    every = [_listed(BatchFolder(path)) for path in BATCHES.paths(home)]
    return sorted(every, key=lambda batch: batch.created_at, reverse=True)


def batch_row(batch: ListedBatch) -> Row:
    """A batch in a list of several kinds, by its first task."""
    first, *others = (task.prompt for task in batch.tasks) if batch.tasks else ("",)
    what = f"{first} (and {count(len(others), 'more task')})" if others else first
    return Row(
        kind="batch",
        name=batch.batch,
        status=batch.status,
        started_at=batch.created_at,
        spent_usd=batch.spent_usd,
        cost_source=batch.cost_source,
        cost_at_least=batch.unknown_costs > 0,
        what=batch.problem or what,
    )


def _listed(folder: BatchFolder) -> ListedBatch:
    """A batch in a list; a damaged one is listed as such."""
    try:
        return read_batch(folder)
    except NightrookError as error:
        created = folder.created_at
        return ListedBatch(
            batch=folder.name, status="damaged", created_at=created, problem=str(error)
        )


def read_batch(folder: BatchFolder) -> ListedBatch:
    """Read a batch as it is now; nothing of it is ended or changed."""
    is_running = folder.is_running  # before the results: what ends meanwhile has one
    tasks = FolderQueue(folder).tasks()
    results = {result.id: result for result in folder.results()}
    rows = [_ended(task, results[task.id]) for task in tasks if task.id in results]
    if len(rows) < len(tasks):
        started = _Started(folder)
        rows = [
            _ended(task, results[task.id])
            if task.id in results
            else _unfinished(task, number, started, is_running=is_running)
            for number, task in enumerate(tasks, 1)
        ]
    return _summed(folder, rows, is_running=is_running)


def _summed(folder: BatchFolder, rows: Sequence[ListedTask], *, is_running: bool) -> ListedBatch:
    known = [row for row in rows if row.spent_usd is not None]
    ran = [row for row in rows if row.has_started]
    done, failed = sum(row.ok is not None for row in rows), sum(row.ok is False for row in rows)
    ended = "failed" if failed else "success"
    status = "running" if is_running else ended if done == len(rows) else "interrupted"
    return ListedBatch(
        batch=folder.name,
        status=status,
        created_at=folder.created_at,
        done=done,
        failed=failed,
        spent_usd=dollars(sum(nano(row.spent_usd or 0.0) for row in known)) if known else None,
        cost_source=least_certain(row.cost_source for row in known),
        unknown_costs=sum(row.cost_source == "unknown" for row in ran),
        tasks=tuple(rows),
    )


def _ended(task: BatchTask, result: BatchResult) -> ListedTask:
    return ListedTask(
        id=task.id,
        prompt=task.run.prompt or "",
        status=result.status,
        ok=result.ok,
        exit_code=result.exit_code,
        sentence=result.sentence,
        run=result.run,
        loop=result.loop,
        spent_usd=result.spent_usd,
        cost_source=result.cost_source,
        duration_s=result.duration_s,
    )


class _Started:
    """The runs and loops of a batch's tasks, for those that have no result yet."""

    def __init__(self, folder: BatchFolder) -> None:
        self._name = folder.name
        self._runs: dict[tuple[str, int], list[Row]] = {}
        for run in runs_of(folder.home, since=folder.created_at - _CLOCK_STEP_S):
            if run.info and run.info.loop is not None and run.info.iteration is not None:
                place = (run.info.loop, run.info.iteration)
                self._runs.setdefault(place, []).append(listed(run))
        self._loops = dict(loops_of(folder))

    def loop(self, number: int) -> LoopFolder | None:
        """The loop of a task."""
        return self._loops.get(number)

    def runs(self, number: int) -> list[Row]:
        """The runs of a task, the newest first; of a loop, those that it has not counted yet."""
        loop = self.loop(number)
        if loop is None:
            return self._runs.get((self._name, number), [])
        state = loop.state()
        pending = state.pending if state else None
        return self._runs.get((loop.name, pending.id), []) if pending else []


def _unfinished(task: BatchTask, number: int, started: _Started, *, is_running: bool) -> ListedTask:
    """A task without a result: it is running, waits, or was interrupted with its batch."""
    runs, loop = started.runs(number), started.loop(number)
    state = loop.state() if loop else None
    costs = [(run.spent_usd, run.cost_source) for run in runs]
    if state is not None and state.attempts:
        costs.append((state.known_usd, state.cost_source))
    known = [(spent, source) for spent, source in costs if spent is not None]
    last = runs[0].name if runs else state.last.report.run if state and state.last else None
    is_live = is_running and (loop is not None or any(run.status == "running" for run in runs))
    since = state.started_at if state else runs[0].started_at if runs else None
    return ListedTask(
        id=task.id,
        prompt=task.run.prompt or "",
        status="running" if is_live else "waiting" if is_running else "not done",
        run=last,
        loop=loop.name if loop else None,
        spent_usd=dollars(sum(nano(spent) for spent, _ in known)) if known else None,
        cost_source=least_certain(source for _, source in known),
        duration_s=elapsed_s(since, time.time()) if is_live else None,
    )
