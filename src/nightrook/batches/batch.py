"""Runs many tasks side by side on one machine: a queue, a few workers, one budget for all."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Protocol, Self

import msgspec
from msgspec.structs import replace

from nightrook.asyncio_tasks import task_group
from nightrook.batches.queue import Job, Queue, loop_result
from nightrook.batches.tasks import BatchTask
from nightrook.config.options import RunOptions
from nightrook.loops.ceilings import Ceilings
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, LoopPlan
from nightrook.loops.start import new_loop, resumed_loop
from nightrook.model.answer import final_text
from nightrook.model.durations import elapsed_s
from nightrook.model.ending import Ending
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Source, least_certain
from nightrook.model.limits import UNLIMITED
from nightrook.model.price import dollars, nano
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict
from nightrook.runs.limits import UnheldBudgetError
from nightrook.runs.start import refuse_unheld_run, start
from nightrook.store.batch_folder import BatchResult
from nightrook.store.home import home_folder

_WATCH_BUDGET_S = 0.25


class CurrentTask(msgspec.Struct):
    """A task that is running."""

    task: BatchTask
    since: float
    earlier_usd: float
    """Cost before the batch was interrupted."""

    name: str = ""
    """The name of its run or loop."""

    cost: Callable[[], float] = lambda: 0.0
    """Cost since then."""

    stop: Callable[[str | None], None] = lambda _: None
    """Ends the run; takes the requester, as `Run.stop` does."""

    @property
    def spent_usd(self) -> float:
        """The sum of its known costs."""
        return self.earlier_usd + self.cost()


class TaskRun(Protocol):
    """A run of a task, here or elsewhere; `async with` starts it."""

    @property
    def name(self) -> str:
        """The run's name."""

    @property
    def state(self) -> RunState:
        """State of the run so far."""

    async def __aenter__(self) -> Self:
        """Start the run."""

    async def __aexit__(self, *_: object) -> None:
        """End the run, if it is running."""

    async def wait(self) -> Verdict:
        """Wait for its end."""

    def stop(self, *, by: str | None = None) -> None:
        """Ask it to end."""


def start_here(options: RunOptions) -> TaskRun:
    """A run of a task on this machine; other processes can answer its agent's questions."""
    made = start(options)
    made.others.waited_for = made.asks
    return made


class Batch:
    """Runs the tasks of a queue, a few at a time; iterate over it for the results.

    `before` are the results that already exist: what they spent counts.
    """

    def __init__(
        self,
        queue: Queue,
        *,
        jobs: int,
        max_cost: float | None = None,
        needs_cost: bool = False,
        before: Sequence[BatchResult] = (),
        home: Path | None = None,
        start_run: Callable[[RunOptions], TaskRun] = start_here,
        retry_lost: int = 0,
    ) -> None:
        """`start_run` starts the run of a task; one that was lost is tried again so often."""
        self._start_run = start_run
        self._retry_lost = retry_lost
        self._queue = queue
        self._jobs = jobs
        self._max_cost = max_cost
        self._needs_cost = needs_cost
        self._home = home or home_folder()
        self._ended: list[BatchResult] = list(before)
        self._earlier: dict[str, float] = {}  # what waiting tasks spent before an interruption
        self._results: asyncio.Queue[BatchResult | None] = asyncio.Queue()
        self._working: asyncio.Task[None] | None = None
        self._stopped = False
        self.is_over_budget = False
        self.current: dict[str, CurrentTask] = {}
        """The tasks that are running, by id."""

    @property
    def spent_usd(self) -> float:
        """The sum of all known costs, including those of running tasks."""
        known = [result.spent_usd or 0.0 for result in self._ended]
        known += self._earlier.values()
        known += [each.spent_usd for each in self.current.values()]
        return dollars(sum(map(nano, known)))

    @property
    def cost_source(self) -> Source:
        """Source of that sum: the least certain of its parts."""
        known = (result for result in self._ended if result.spent_usd is not None)
        return least_certain(result.cost_source for result in known)

    @property
    def unknown_costs(self) -> int:
        """Number of tasks that did not report all of their cost."""
        ran = (result for result in self._ended if result.status != "not_started")
        return sum(result.cost_source == "unknown" for result in ran)

    @property
    def has_started(self) -> bool:
        """True if a task has started, so that money may have been spent."""
        return bool(self.current) or any(each.status != "not_started" for each in self._ended)

    async def __aenter__(self) -> Self:
        jobs = await asyncio.to_thread(self._queue.remaining)
        self._earlier = {job.task.id: _spent(job.earlier) for job in jobs if job.earlier}
        self._working = asyncio.create_task(self._work_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._working is not None
        if not self._working.done():
            self.stop()
        await self._working

    async def __aiter__(self) -> AsyncIterator[BatchResult]:
        """Yield each result as it arrives."""
        while (result := await self._results.get()) is not None:
            yield result

    def stop(self, *, by: str | None = None) -> None:
        """Start no more tasks, and end those that are running; `by` names the requester."""
        self._stopped = True
        for each in self.current.values():
            each.stop(by)

    async def _work_all(self) -> None:
        budget = asyncio.create_task(self._watch_budget())
        try:
            async with task_group() as group:
                for _ in range(self._jobs):
                    group.create_task(self._work())
        finally:
            budget.cancel()
            self._results.put_nowait(None)

    async def _work(self) -> None:
        while self._may_start() and (job := await self._queue.take()) is not None:
            result = await self._result(job)
            self._ended.append(result)
            if not result.ok and not self._may_start():
                continue  # stopped by us or by our budget: it is done when the batch is resumed
            self._results.put_nowait(await self._kept(result))

    async def _kept(self, result: BatchResult) -> BatchResult:
        """Store a result; if that fails, report it: the task is done again on a resume."""
        try:
            await self._queue.done(result)
        except (NightrookError, OSError) as error:
            return replace(result, sentence=f"{result.sentence} (not saved: {error})".lstrip())
        return result

    async def _result(self, job: Job) -> BatchResult:
        task, earlier_usd = job.task, self._earlier.pop(job.task.id, 0.0)
        current = CurrentTask(task=task, since=time.time(), earlier_usd=earlier_usd)
        self.current[task.id] = current
        try:
            return await (self._loop if task.is_loop else self._run)(job, current)
        except (NightrookError, OSError) as error:  # it ends this task, and no other
            return BatchResult(
                id=task.id,
                ok=False,
                status="not_started",
                exit_code=9,
                sentence=str(error),
                spent_usd=earlier_usd,
                cost_source="native",
                duration_s=elapsed_s(current.since, time.time()),
            )
        finally:
            del self.current[task.id]

    def _may_start(self) -> bool:
        """True if another task may start; stop all tasks when the budget is used up."""
        if not self._stopped and self._max_cost is not None and self.spent_usd >= self._max_cost:
            self.is_over_budget = bool(self.current or self._queue.remaining())
            self.stop(by="budget of its batch")
        return not self._stopped

    async def _watch_budget(self) -> None:
        while self._may_start():
            await asyncio.sleep(_WATCH_BUDGET_S)

    async def _run(self, job: Job, current: CurrentTask) -> BatchResult:
        if job.earlier and job.earlier[-1].ok:  # it succeeded, but its result was not written
            return _summed(job.earlier)
        results = [*job.earlier]
        for _ in range(self._retry_lost + 1):
            results.append(await self._one_run(job, current))
            if results[-1].status != "lost" or not self._may_start():
                break
            current.earlier_usd, current.cost = _spent(results), lambda: 0.0
        return _summed(results)

    async def _one_run(self, job: Job, current: CurrentTask) -> BatchResult:
        async with self._new_run(job.task, job.place) as started:
            current.stop = lambda by: started.stop(by=by)
            current.cost = lambda: started.state.ledger.spent_usd or 0.0
            current.name = started.name
            verdict = await started.wait()
        return BatchResult.of(
            job.task.id,
            Ending.of_run(verdict, started_at=current.since, ended_at=time.time()),
            run=started.name,
            spent_usd=started.state.ledger.spent_usd,
            cost_source=started.state.ledger.cost.source,
            answer=final_text(started.state),
        )

    def _new_run(self, task: BatchTask, place: tuple[str, int]) -> TaskRun:
        """The run of a task, which may spend its own limit, and the rest of the batch's."""
        left = task.run.max_cost
        if self._max_cost is not None:
            of_all = max(0.0, self._max_cost - self.spent_usd)
            left = of_all if left is None else min(left, of_all)
        unchecked = not _needs_cost(task.run, by_batch=self._needs_cost)
        options = replace(task.run, max_cost=left, max_cost_unchecked=unchecked)
        return self._start_run(replace(options, home=str(self._home), loop=place))

    async def _loop(self, job: Job, current: CurrentTask) -> BatchResult:
        if job.earlier and job.earlier[-1].status != "interrupted":  # its result was not written
            return job.earlier[-1]
        async with self._new_or_resumed_loop(job) as started:
            current.stop = lambda by: started.stop(by=by)
            current.earlier_usd, current.cost = 0.0, lambda: started.spent_usd
            current.name = started.name
            await started.wait()
        return loop_result(job.task, started.name, started.state)

    def _new_or_resumed_loop(self, job: Job) -> Loop:
        """The task's loop: the interrupted one, else a new one.

        Its ceilings are the task's; the budget of the batch stops it from outside, so that it can
        be resumed.
        """
        if job.loop is not None:
            return resumed_loop(job.loop, home=self._home)
        plan = _plan(job.task, job.place, needs_cost=self._needs_cost)
        return new_loop(plan, home=self._home)


def refuse_unheld_tasks(tasks: Sequence[BatchTask], max_cost: float) -> None:
    """Refuse a budget for a batch if it cannot hold for one of the tasks."""
    for task in tasks:
        try:
            refuse_unheld_run(replace(task.run, max_cost=max_cost))  # guards: batch-cost-holds
        except UnheldBudgetError as error:
            raise UnheldBudgetError(f"task {task.id}: {error}") from error
        except NightrookError:
            continue  # its result will report that


def _needs_cost(run: RunOptions, *, by_batch: bool) -> bool:
    """True if the limit of a task, or of its batch, needs the task's cost."""
    return (by_batch or run.max_cost is not None) and not run.max_cost_unchecked


def _plan(task: BatchTask, place: tuple[str, int], *, needs_cost: bool) -> LoopPlan:
    """The plan of a task that is a loop: the limits of the task are ceilings of the loop."""
    run, default = task.run, Ceilings()
    plan = LoopPlan(
        run=replace(run.with_limits(UNLIMITED), idle_timeout=None, worktree=False),
        goal=Goal(until=task.until, signals=task.signal, checks=task.check),
        ceilings=replace(
            default.limited_to(run.limits),
            iterations=task.max_iterations or default.iterations,
        ),
        needs_cost=_needs_cost(run, by_batch=needs_cost),
        worktree=run.worktree,
        batch=place,
    )
    return plan if run.idle_timeout is None else replace(plan, idle_s=run.idle_timeout)


def _spent(results: Sequence[BatchResult]) -> float:
    return dollars(sum(nano(result.spent_usd or 0.0) for result in results))


def _summed(results: Sequence[BatchResult]) -> BatchResult:
    """The last result of a task, with the cost of all its runs."""
    known = [result for result in results if result.spent_usd is not None]
    return replace(
        results[-1],
        spent_usd=_spent(known) if known else None,
        cost_source=least_certain(result.cost_source for result in results),
    )
