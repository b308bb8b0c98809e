"""Many prompts side by side on one machine: a queue, a few workers, one budget for all."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Self

import msgspec

from rookery.batches.batch_store import loop_result
from rookery.batches.tasks import BatchResult, BatchTask, Job, Queue
from rookery.config.options import RunOptions
from rookery.loops.driver import Loop
from rookery.loops.plan import Ceilings, Goal, LoopPlan
from rookery.loops.start import new_loop, resumed_loop
from rookery.model.completion import final_text
from rookery.model.errors import RookeryError
from rookery.model.ledger import Source, least_certain
from rookery.model.price import dollars, nano
from rookery.runs.home import home_folder
from rookery.runs.start import start

_LOOK_S = 0.25


class Working(msgspec.Struct):
    """A task that is being done."""

    task: BatchTask
    since: float
    earlier: float
    """What it had spent before it was cut off."""

    doing: str = ""
    spending: Callable[[], float] = lambda: 0.0
    """What it has spent since."""

    stop: Callable[[], None] = lambda: None

    def spent(self) -> float:
        """What it is known to have spent so far."""
        return self.earlier + self.spending()


class Batch:
    """Does the tasks of a queue, a few at a time; iterate over it for the results.

    `before` are the results that there are already: what they spent counts.
    """

    def __init__(
        self,
        queue: Queue,
        *,
        jobs: int,
        max_cost: float | None = None,
        before: Sequence[BatchResult] = (),
        home: Path | None = None,
    ) -> None:
        self._queue = queue
        self._jobs = jobs
        self._max_cost = max_cost
        self._home = home or home_folder()
        self._booked: list[BatchResult] = list(before)
        self._cut_off: dict[str, float] = {}  # what tasks that wait have spent before
        self._results: asyncio.Queue[BatchResult | None] = asyncio.Queue()
        self._doing: asyncio.Task[None] | None = None
        self._stopped = False
        self.is_over_budget = False
        self.working: dict[str, Working] = {}
        """What is being done now, by the task's id."""

    @property
    def spent_usd(self) -> float:
        """What all tasks are known to have spent, those that are at work included."""
        known = [result.spent_usd or 0.0 for result in self._booked]
        known += self._cut_off.values()
        known += [each.spent() for each in self.working.values()]
        return dollars(sum(map(nano, known)))

    @property
    def cost_source(self) -> Source:
        """How far that can be trusted."""
        known = (result for result in self._booked if result.spent_usd is not None)
        return least_certain(result.cost_source for result in known)

    @property
    def unknown_costs(self) -> int:
        """Tasks that ran and of whose cost nobody knows all."""
        ran = (result for result in self._booked if result.status != "not_started")
        return sum(result.cost_source == "unknown" for result in ran)

    async def __aenter__(self) -> Self:
        left = await asyncio.to_thread(self._queue.left)
        self._cut_off = {job.task.id: _spent(job.cut_off) for job in left if job.cut_off}
        self._doing = asyncio.create_task(self._do_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._doing is not None
        if not self._doing.done():
            self.stop()
        await self._doing

    async def __aiter__(self) -> AsyncIterator[BatchResult]:
        """Give each result as it comes."""
        while (result := await self._results.get()) is not None:
            yield result

    def stop(self) -> None:
        """Begin nothing more, and end what is at work."""
        self._stopped = True
        for each in self.working.values():
            each.stop()

    async def _do_all(self) -> None:
        watching = asyncio.create_task(self._watch_budget())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._jobs):
                    group.create_task(self._work())
        finally:
            watching.cancel()
            self._results.put_nowait(None)

    async def _work(self) -> None:
        while self._may_begin() and (job := await self._queue.take()) is not None:
            task, earlier = job.task, self._cut_off.pop(job.task.id, 0.0)
            working = Working(task=task, since=time.time(), earlier=earlier)
            self.working[task.id] = working
            try:
                do = self._loop if task.is_loop else self._run
                result = await do(job, working)
            except RookeryError as error:
                result = BatchResult(
                    id=task.id,
                    ok=False,
                    status="not_started",
                    exit_code=9,
                    sentence=str(error),
                    spent_usd=earlier,
                    cost_source="native",
                    duration_s=time.time() - working.since,
                )
            del self.working[task.id]
            self._booked.append(result)
            if not result.ok and not self._may_begin():
                continue  # we ended it, or our budget did: it goes on when the batch does
            await self._queue.done(result)
            self._results.put_nowait(result)

    def _may_begin(self) -> bool:
        """Whether there is time and money for another task; if the money is gone, all end."""
        if not self._stopped and self._max_cost is not None and self.spent_usd >= self._max_cost:
            self.is_over_budget = bool(self.working or self._queue.left())
            self.stop()
        return not self._stopped

    async def _watch_budget(self) -> None:
        while self._may_begin():
            await asyncio.sleep(_LOOK_S)

    def _left(self, own: float | None) -> float | None:
        """What a task may spend: its own limit, and what is left for all."""
        if self._max_cost is None:
            return own
        left = max(0.0, self._max_cost - self.spent_usd)
        return left if own is None else min(own, left)

    async def _run(self, job: Job, working: Working) -> BatchResult:
        if job.cut_off and job.cut_off[-1].ok:  # only its result was not kept
            return _summed(job.cut_off)
        task = job.task
        options = RunOptions(
            agent=task.agent,
            prompt=task.prompt,
            cwd=task.cwd,
            via=task.via,
            model=task.model,
            permission=task.permission,
            allow=task.allow,
            max_cost=self._left(task.max_cost),
            timeout=task.timeout,
            args=task.args,
            program=task.program,
            called=task.called,
            home=str(self._home),
            loop=job.place,
        )
        async with start(options) as going:
            working.stop = going.stop
            working.spending = lambda: going.state.ledger.spent_usd or 0.0
            working.doing = going.name
            verdict = await going.wait()
        result = BatchResult(
            id=task.id,
            ok=verdict.status == "success",
            status=verdict.status,
            exit_code=verdict.exit_code,
            sentence=verdict.sentence,
            run=going.name,
            spent_usd=going.state.ledger.spent_usd,
            cost_source=going.state.ledger.cost.source,
            duration_s=time.time() - working.since,
            answer=final_text(going.state),
        )
        return _summed([*job.cut_off, result])

    async def _loop(self, job: Job, working: Working) -> BatchResult:
        if job.cut_off and job.cut_off[-1].status != "interrupted":  # only its result was not kept
            return job.cut_off[-1]
        async with self._begun(job) as going:
            working.stop = going.stop
            working.earlier, working.spending = 0.0, lambda: going.spent_usd
            working.doing = going.name
            await going.wait()
        return loop_result(job.task, going.name, going.state)

    def _begun(self, job: Job) -> Loop:
        """The task's loop: the one that was cut off, else a new one.

        Its own ceilings are the task's; that of the batch ends it from outside, so it can go on.
        """
        if job.loop is not None:
            return resumed_loop(job.loop, home=self._home)
        task, usual = job.task, Ceilings()
        plan = LoopPlan(
            agent=task.agent,
            cwd=task.cwd,
            prompt=task.prompt,
            goal=Goal(until=task.until, signals=task.signal, checks=task.check),
            ceilings=Ceilings(
                iterations=task.max_iterations or usual.iterations,
                cost_usd=usual.cost_usd if task.max_cost is None else task.max_cost,
                time_s=task.timeout or usual.time_s,
            ),
            via=task.via,
            model=task.model,
            permission=task.permission,
            allow=task.allow,
            args=task.args,
            program=task.program,
            called=task.called,
            batch=job.place,
        )
        return new_loop(plan, home=self._home)


def _spent(results: Sequence[BatchResult]) -> float:
    return dollars(sum(nano(result.spent_usd or 0.0) for result in results))


def _summed(results: Sequence[BatchResult]) -> BatchResult:
    """The last result of a task, with what all its runs have spent."""
    known = [result for result in results if result.spent_usd is not None]
    return msgspec.structs.replace(
        results[-1],
        spent_usd=_spent(known) if known else None,
        cost_source=least_certain(result.cost_source for result in results),
    )
