"""Many prompts side by side on one machine: a queue, a few workers, one budget for all."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import msgspec

from rookery.core.agent import Permission
from rookery.core.completion import final_text
from rookery.core.errors import RookeryError
from rookery.core.ledger import Source, least_certain
from rookery.core.price import dollars, nano
from rookery.folder import runs
from rookery.folder.healing import state_of
from rookery.loop import store
from rookery.loop.driver import Loop
from rookery.loop.events import EXIT_CODES
from rookery.loop.plan import Ceilings, Goal, LoopPlan
from rookery.loop.start import new_loop, resumed_loop
from rookery.loop.state import LoopState
from rookery.loop.tasks import BatchResult, BatchTask, Job, Queue
from rookery.prices import PriceBook
from rookery.run.others import settle
from rookery.run.places import home_folder
from rookery.run.runner import Run
from rookery.run.start import run

_LOOK_S = 0.25


class Working(msgspec.Struct):
    """A task that is being done."""

    task: BatchTask
    since: float
    doing: str = ""
    spent: Callable[[], float] = lambda: 0.0
    stop: Callable[[], None] = lambda: None


class Batch:
    """Does the tasks of a queue, a few at a time; iterate over it for the results."""

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
        self._spent = 0
        self._sources: set[Source] = set()
        for result in before:
            self._book(result)
        self._home = home or home_folder()
        self._results: asyncio.Queue[BatchResult | None] = asyncio.Queue()
        self._doing: asyncio.Task[None] | None = None
        self._stopped = False
        self.is_over_budget = False
        self.working: dict[str, Working] = {}
        """What is being done now, by the task's id."""

    @property
    def spent_usd(self) -> float:
        """What all tasks are known to have spent, those that are at work included."""
        return dollars(self._spent + sum(nano(each.spent()) for each in self.working.values()))

    @property
    def cost_source(self) -> Source:
        """How far that can be trusted."""
        return least_certain(self._sources)

    async def __aenter__(self) -> Self:
        self._doing = asyncio.create_task(self._do_all())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        while not self._stopped and (job := await self._queue.take()) is not None:
            task = job.task
            working = self.working[task.id] = Working(task=task, since=time.time())
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
                    spent_usd=0.0,
                    duration_s=time.time() - working.since,
                )
            del self.working[task.id]
            self._book(result)
            if not result.ok and self._was_stopped():
                continue  # it is done again when the batch goes on
            await self._queue.done(result)
            self._results.put_nowait(result)

    def _book(self, result: BatchResult) -> None:
        self._spent += nano(result.spent_usd or 0.0)
        if result.status != "not_started":
            self._sources.add(result.cost_source)

    def _was_stopped(self) -> bool:
        return self._stopped

    async def _watch_budget(self) -> None:
        while self._max_cost is not None and not self._stopped:
            if self.spent_usd > self._max_cost:
                self.is_over_budget = True
                self.stop()
            await asyncio.sleep(_LOOK_S)

    def _left(self, own: float | None) -> float | None:
        """What a task may spend: its own limit, and what is left for all."""
        if self._max_cost is None:
            return own
        left = max(0.0, self._max_cost - self.spent_usd)
        return left if own is None else min(own, left)

    async def _run(self, job: Job, working: Working) -> BatchResult:
        task = job.task
        before = await asyncio.to_thread(self._before, job)
        if before and before[-1].ok:  # only its result was not kept
            return _summed(before)
        earlier = sum(result.spent_usd or 0.0 for result in before)
        working.spent = lambda: earlier
        going: Run = run(
            task.agent,
            task.prompt,
            cwd=task.cwd,
            via=task.via,
            model=task.model,
            permission=cast("Permission", task.permission),
            allow=task.allow,
            max_cost=self._left(task.max_cost),
            timeout=task.timeout,
            args=task.args,
            home=self._home,
            loop=job.place,
        )
        async with going:
            working.stop = going.stop
            working.spent = lambda: earlier + (going.state.ledger.spent_usd or 0.0)
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
        return _summed([*before, result])

    def _before(self, job: Job) -> list[BatchResult]:
        """What became of the task's runs that were cut off with the batch."""
        found = []
        for name in job.runs:
            folder = runs.find(self._home, name)
            verdict, info = settle(folder), folder.info()
            if verdict is None or info is None:
                continue
            state = state_of(folder, info, PriceBook())
            found.append(
                BatchResult(
                    id=job.task.id,
                    ok=verdict.status == "success",
                    status=verdict.status,
                    exit_code=verdict.exit_code,
                    sentence=verdict.sentence,
                    run=name,
                    spent_usd=verdict.spent_usd,
                    cost_source=verdict.cost_source,
                    duration_s=verdict.ended_at - info.started_at,
                    answer=None if state is None else final_text(state),
                )
            )
        return found

    async def _loop(self, job: Job, working: Working) -> BatchResult:
        if job.loop is not None:
            state = store.find(self._home, job.loop).state()
            if state is not None and state.is_over:  # only its result was not kept
                return _of_loop(job.task, job.loop, state)
        async with self._begun(job) as going:
            working.stop = going.stop
            working.spent = lambda: going.state.spent_usd
            working.doing = going.name
            await going.wait()
        return _of_loop(job.task, going.name, going.state)

    def _begun(self, job: Job) -> Loop:
        """The task's loop: the one that was cut off, else a new one."""
        if job.loop is not None:
            return resumed_loop(job.loop, home=self._home)
        task, usual = job.task, Ceilings()
        left = self._left(task.max_cost)
        plan = LoopPlan(
            agent=task.agent,
            cwd=task.cwd,
            prompt=task.prompt,
            goal=Goal(until=task.until, signals=task.signal, checks=task.check),
            ceilings=Ceilings(
                iterations=task.max_iterations or usual.iterations,
                cost_usd=usual.cost_usd if left is None else left,
                time_s=task.timeout or usual.time_s,
            ),
            via=task.via,
            model=task.model,
            permission=task.permission,
            allow=task.allow,
            args=task.args,
            batch=job.place,
        )
        return new_loop(plan, home=self._home)


def _summed(results: Sequence[BatchResult]) -> BatchResult:
    """The last result of a task, with what all its runs have spent."""
    known = [nano(result.spent_usd) for result in results if result.spent_usd is not None]
    return msgspec.structs.replace(
        results[-1],
        spent_usd=dollars(sum(known)) if known else None,
        cost_source=least_certain(result.cost_source for result in results),
    )


def _of_loop(task: BatchTask, name: str, state: LoopState) -> BatchResult:
    last, end = state.last, state.end or "interrupted"
    return BatchResult(
        id=task.id,
        ok=end == "done",
        status=end,
        exit_code=EXIT_CODES[end],
        sentence=state.reason,
        loop=name,
        run=last.report.run if last else None,
        spent_usd=state.spent_usd,
        cost_source=state.cost_source,
        duration_s=(state.ended_at or state.started_at) - state.started_at,
        answer=last.report.answer if last else None,
    )
