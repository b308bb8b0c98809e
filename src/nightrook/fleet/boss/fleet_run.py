"""A run on a fleet, for its user: submitted, followed in a folder here, stopped, and judged."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from nightrook.asyncio_tasks import end_tasks
from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.boss.folders import FleetState, read_state
from nightrook.fleet.boss.heartbeats import BeatWatch
from nightrook.fleet.boss.replicator import Replicator
from nightrook.fleet.boss.repositories import Send
from nightrook.fleet.boss.submit import NoMoneyError, next_attempt, submit
from nightrook.fleet.connection import Address, Connection, connected
from nightrook.fleet.messages import Job
from nightrook.fleet.streams import make_streams
from nightrook.model.limits import UNLIMITED, lowest
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict
from nightrook.runs.attached import AttachedRun
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo

_HOLD_LOOK_S = 1.0


@dataclass(frozen=True)
class Fleet:
    """A connection to a fleet as its boss, with the beats of its workers."""

    connection: Connection
    beats: BeatWatch
    home: Path

    async def hold(self, agent: str, say: Callable[[str], None] = lambda _: None) -> None:
        """Wait while a worker reports that the quota of an agent is used up."""
        said = False
        while (resets_at := self.beats.limited_agents.get(agent, 0.0)) > time.time():
            if not said:
                said = True
                left_s = resets_at - time.time()
                say(f"the quota of {agent} is used up: its jobs wait for {left_s:.0f} s")
            await asyncio.sleep(min(_HOLD_LOOK_S, resets_at - time.time()))


@asynccontextmanager
async def opened_fleet(
    address: Address, home: Path, *, patience_s: float | None = 2.0
) -> AsyncIterator[Fleet]:
    """A connection to a fleet while the block lasts; its streams are made if they are missing."""
    async with connected(address, patience_s=patience_s) as connection:
        if not address.only_reads:
            await make_streams(connection)
        beats = BeatWatch(connection)
        beats.start()
        try:
            yield Fleet(connection, beats, home)
        finally:
            await beats.close()


class FleetRun:
    """One attempt of a run on a fleet; use it in `async with`, which asks for it."""

    def __init__(
        self, fleet: Fleet, job: Job, *, send: Send | None = None, shares: int = 1
    ) -> None:
        """`send` sends its repository; `shares` is how many runs share its budget at once."""
        self.job = job
        self._shares = shares
        self._fleet = fleet
        self._send = send
        self._state: FleetState | None = None
        self._replicator: Replicator | None = None
        self._attached: AttachedRun | None = None
        self._following: asyncio.Task[VerdictInfo] | None = None

    async def __aenter__(self) -> Self:
        await self._fleet.hold(self.job.agent)
        sent = await self._send(self.job) if self._send is not None else None
        self.job = await self._with_share()
        folder, state = await submit(self._fleet.connection, self._fleet.home, self.job, sent)
        self.job, self._state = state.job, state
        self._replicator = Replicator(self._fleet.connection, folder, state, self._fleet.beats)
        await self._replicator.__aenter__()
        self._attached = AttachedRun(folder)
        self._replicator.wakes(self._attached)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._following is not None:
            await end_tasks([self._following])
        if self._replicator is not None:
            await self._replicator.__aexit__()
        if self._attached is not None:
            self._attached.close()

    async def _with_share(self) -> Job:
        """The job with a ceiling that its budget has room for; wait while others may free some."""
        if self.job.budget is None:
            return self.job
        while True:
            budget = await Budgets(self._fleet.connection).read(self.job.budget)
            if budget is None or (budget.left <= 0 and not budget.open):
                raise NoMoneyError(f"the budget {self.job.budget!r} is used up")
            if budget.left > 0:
                share = budget.left / max(1, self._shares - budget.open)
                options = self.job.options
                limits = lowest(options.limits, replace(UNLIMITED, cost=share))
                return replace(self.job, options=options.with_limits(limits))
            await asyncio.sleep(_HOLD_LOOK_S)

    @property
    def attached(self) -> AttachedRun:
        """The run as it is read here."""
        if self._attached is None:
            raise RuntimeError("the run has not been started: use it in `async with`")
        return self._attached

    @property
    def folder(self) -> RunFolder:
        """The run's folder here."""
        return self.attached.folder

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def state(self) -> RunState:
        """The state of the run so far."""
        return self.attached.feed.state

    @property
    def replicator(self) -> Replicator:
        """The replicator of the run's folder."""
        assert self._replicator is not None
        return self._replicator

    def stop(self, *, by: str | None = None) -> None:
        """Stop the run, wherever it is; a second call kills it."""
        self.replicator.stop(by=by, kill=self.replicator.is_stopping)

    async def wait(self) -> Verdict:
        """Follow the run to its end; return the verdict."""
        if self._following is None:
            self._following = asyncio.create_task(self.attached.follow())
        await self.replicator.wait()
        return (await self._following).verdict

    @property
    def note(self) -> str | None:
        """A note on the parts of its repository that did not come back, once it is over."""
        state = read_state(self.folder)
        return state.note if state is not None else None

    def again(self) -> "FleetRun":
        """Another attempt of a run that was lost or returned."""
        job = next_attempt(self.job)
        return FleetRun(self._fleet, job, send=self._send, shares=self._shares)
