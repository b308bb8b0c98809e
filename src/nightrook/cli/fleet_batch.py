"""A batch on a fleet: each task is a job, and one budget on the server holds for all of them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

from nightrook.batches.batch import TaskRun
from nightrook.batches.queue import FolderQueue
from nightrook.cli.terminal.output import say
from nightrook.config.options import BatchOptions, RunOptions
from nightrook.fleet.accounts.credentials import chosen_fleet
from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun, opened_fleet
from nightrook.fleet.boss.repositories import Repositories
from nightrook.fleet.boss.submit import job_of
from nightrook.fleet.connection import FleetError
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict
from nightrook.store.batch_folder import BatchTerms
from nightrook.store.home import home_folder


@asynccontextmanager
async def on_fleet(
    queue: FolderQueue, terms: BatchTerms, options: BatchOptions
) -> AsyncIterator[Callable[[RunOptions], TaskRun]]:
    """Yield the function that starts the runs of a batch on a fleet.

    With `--repo`, the repositories are sent before the first task starts, so that what cannot be
    sent ends the batch before it has spent anything. What did not come back is reported at the end.
    """
    if any(task.is_loop for task in queue.tasks()):
        raise FleetError("a task that is a loop runs only here: leave out --fleet, or its goal")
    address, _ = chosen_fleet(options.credentials)
    async with opened_fleet(address, home_folder()) as fleet:
        budget = None
        if terms.max_cost is not None:
            budget = queue.folder.name
            await Budgets(fleet.connection).open(budget, terms.max_cost)
        repositories = None
        if options.repo:
            repositories = Repositories(fleet.connection, fleet.beats, files=options.files, say=say)
            for each in await asyncio.to_thread(queue.remaining):
                await repositories.send(_folder(each.task.run), agent=each.task.run.agent)
        starter = _Starter(fleet, repositories, budget, terms.jobs)
        yield starter.start
        for name, note in starter.notes:
            say(f"run {name}: {note}")


class _Starter:
    """Starts runs; each may spend its share of the rest, at most its own limit."""

    def __init__(
        self, fleet: Fleet, repositories: Repositories | None, budget: str | None, jobs: int
    ) -> None:
        self.notes: list[tuple[str, str]] = []
        """Notes on parts of a run's repository that did not come back."""
        self._fleet = fleet
        self._repositories = repositories
        self._budget = budget
        self._jobs = jobs

    def start(self, options: RunOptions) -> TaskRun:
        """A run of a task on the fleet, which is submitted when it is entered."""
        if options.called is not None or options.program is not None:
            raise FleetError(
                "a fleet runs the agents of its machines, not a command of your settings"
            )
        job = job_of(options, budget=self._budget)
        sender = self._repositories
        send = None if sender is None else sender.of(_folder(options))
        return TaskAttempts(FleetRun(self._fleet, job, send=send, shares=self._jobs), self.notes)


class TaskAttempts:
    """A run of a task; an attempt that its worker returns unstarted is followed by the next one."""

    def __init__(self, run: FleetRun, notes: list[tuple[str, str]]) -> None:
        self._run = run
        self._notes = notes
        self._stopped = asyncio.Event()

    @property
    def name(self) -> str:
        """The name of the attempt that runs."""
        return self._run.name

    @property
    def state(self) -> RunState:
        """State of the run so far."""
        return self._run.state

    async def __aenter__(self) -> Self:
        await self._run.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._run.__aexit__()

    async def wait(self) -> Verdict:
        """Follow the attempts to the end of the one that is not returned."""
        verdict = await self._run.wait()
        while self._run.replicator.was_returned and not self._stopped.is_set():
            await self._run.__aexit__()
            following = self._run.again()
            await following.__aenter__()
            self._run = following
            if self._stopped.is_set():
                self._run.stop()
            verdict = await self._run.wait()
        if (note := self._run.note) is not None:
            self._notes.append((self._run.name, note))
        return verdict

    def stop(self, *, by: str | None = None) -> None:
        """Stop the attempt that runs, and ask for no other."""
        self._stopped.set()
        self._run.stop(by=by)


def _folder(options: RunOptions) -> str:
    return os.path.abspath(options.cwd)
