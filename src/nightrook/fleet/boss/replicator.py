"""Replicates one run of a fleet: copies its worker's messages, and settles its ending.

Any number of replicators can work on one run, in any number of processes, one after another or at
once: the one that writes holds the lock of the folder, and a settlement is stored once.
"""

import asyncio
import time
from contextlib import suppress
from typing import Any, Self

from nightrook.asyncio_tasks import end_tasks
from nightrook.fleet import subjects
from nightrook.fleet.boss.folders import FleetState, read_state
from nightrook.fleet.boss.heartbeats import TICK_S, BeatWatch
from nightrook.fleet.boss.liveness import QueueWatch, Silence, take_back
from nightrook.fleet.boss.questions import RemoteQuestions
from nightrook.fleet.boss.replica import Replica
from nightrook.fleet.boss.settlement import judge_lost, judge_unstarted, save_ended, settle
from nightrook.fleet.claims import UNCLAIMED_S
from nightrook.fleet.connection import Connection, FleetError
from nightrook.fleet.messages import AnswerOrder, ResendOrder, Settlement, StopOrder, dump
from nightrook.fleet.mirror import Mirror
from nightrook.fleet.repository.fetch import bring_home
from nightrook.fleet.stream_reader import JetStreamReader
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo
from nightrook.story.follow import RunFollower

_LOCK = "fleet.lock"
_LOOK_S = 1.0
_RESEND_S = 2.0
_GIVE_UP_S = 60.0  # for bytes that the worker said it sent, and that never came


class Replicator:
    """Keeps the folder of one attempt up to date until it is settled; use it in `async with`."""

    def __init__(
        self, connection: Connection, folder: RunFolder, state: FleetState, beats: BeatWatch
    ) -> None:
        self.folder = folder
        self.job = state.job
        self.settlement: Settlement | None = None
        self.silence = Silence(connection, state.job, beats)
        self._state = state
        self._copy: Replica | None = None
        self._connection = connection
        self._queue = QueueWatch(connection, state.job)
        self._asked_again_at = 0.0
        self._stop: StopOrder | None = None
        self._done = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._orders: set[asyncio.Task[None]] = set()
        self._follower: RunFollower | None = None

    async def __aenter__(self) -> Self:
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        await end_tasks([*([self._keeping] if self._keeping else []), *self._orders])

    @property
    def state(self) -> FleetState:
        """The state of the run, and how far it has been copied."""
        return self._copy.state if self._copy is not None else self._state

    @property
    def was_returned(self) -> bool:
        """True if its worker gave the job back before it started it."""
        ended = self._copy.ended if self._copy is not None else None
        return ended is not None and ended.end == "returned"

    @property
    def is_stopping(self) -> bool:
        """True if the run was asked to stop."""
        return self._stop is not None

    async def wait(self) -> Settlement:
        """Wait until the attempt is settled, and its verdict is in the folder."""
        assert self._keeping is not None
        await asyncio.shield(self._keeping)
        assert self.settlement is not None
        return self.settlement

    async def catch_up(self) -> None:
        """Wait until all that is on the server now is here, or another process copies it."""
        await self._caught_up.wait()

    def wakes(self, follower: RunFollower) -> None:
        """Wake a follower of the folder at each change, while this process writes it."""
        self._follower = follower
        follower.is_pushed = self._copy is not None

    def stop(self, *, by: str | None = None, kill: bool = False) -> None:
        """Stop the run, wherever it is; the order is repeated until it has ended."""
        self._stop = StopOrder(attempt=self.job.attempt, by=by, kill=kill)
        task = asyncio.create_task(self._repeat_stop())
        self._orders.add(task)
        task.add_done_callback(self._orders.discard)

    async def _keep(self) -> None:
        while not self._done.is_set():
            with self.folder.opened() as files, files.lock(_LOCK) as is_mine:
                if is_mine:
                    await self._keep_locked()
                    return
            self._caught_up.set()
            verdict = self.folder.verdict()
            if verdict is not None and verdict.status != "lost":
                self._finish(_settlement_of(verdict, self.state.worker))
            self._state = read_state(self.folder) or self._state
            await asyncio.sleep(TICK_S)

    async def _keep_locked(self) -> None:
        """Replica and watch, side by side, until the attempt is settled."""
        state = read_state(self.folder) or self._state  # another process may have come further
        subject = subjects.events_of(self.job.run, self.job.attempt)
        reader = JetStreamReader(self._connection, subjects.EV, subject, after=state.seq)
        questions = RemoteQuestions(self._order, self.folder, self.job.attempt)
        with Mirror(self.folder, self.job.options.max_log_size) as mirror:
            self._copy = copy = Replica(self.folder, state, reader, mirror, questions)
            self._wake(is_pushed=True)
            await questions.open(asks=self.job.permission == "ask")
            every: list[asyncio.Task[Any]] = [
                asyncio.create_task(self._read(reader, copy)),
                asyncio.create_task(self._watch(copy)),
                asyncio.create_task(self._done.wait()),
            ]
            try:
                done, _ = await asyncio.wait(every, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    await task
            finally:
                await end_tasks(every)
                await questions.close()
                self._wake(is_pushed=False)

    def _wake(self, *, is_pushed: bool = True) -> None:
        if self._follower is not None:
            self._follower.is_pushed = is_pushed
            self._follower.wake()

    async def _read(self, reader: JetStreamReader, copy: Replica) -> None:
        async for message in reader.messages():
            if message is not None:
                copy.take(message)
                self._wake()
                continue
            if copy.ended is not None:
                with suppress(FleetError):  # the server is away: again at the next heartbeat
                    await self._try_to_end(copy)
            else:
                copy.save_position()
            self._caught_up.set()

    async def _try_to_end(self, copy: Replica) -> None:
        """Settle a run that has ended, once all of it is here."""
        ended = copy.ended
        assert ended is not None
        lacks = copy.mirror.lacks(dict(ended.sizes)) if ended.end == "ran" else {}
        now = time.monotonic()
        late_s = now - copy.ended_at
        if lacks and late_s < _GIVE_UP_S:
            if late_s > _RESEND_S and now - self._asked_again_at > _RESEND_S:
                self._asked_again_at = now
                positions = {str(log): position for log, position in lacks.items()}
                await self._order(ResendOrder(attempt=self.job.attempt, positions=positions))
            return
        if ended.end == "ran":
            copy.note_left_out(ended.reason, await asyncio.to_thread(bring_home, self.folder))
        await self._settle(save_ended(self.folder, ended, problem=copy.state.problem))

    async def _settle(self, verdict: VerdictInfo) -> None:
        """Settle on the server; only then is the verdict here."""
        settlement = _settlement_of(verdict, self.state.worker)
        counts = await settle(self._connection, self.job, settlement)
        if verdict.status == "lost" != counts.status:
            self.silence.seconds = 0.0  # another boss has seen its end, which will come here, too
            return
        self.folder.write_verdict(verdict)
        self._wake()
        if self._copy is not None and (verdict.status != "lost" or self._copy.ended is None):
            self._copy.save_position(now=True)  # never past an end that is not settled
        self._finish(counts)

    def _finish(self, settlement: Settlement) -> None:
        self.settlement = settlement
        self._done.set()

    async def _watch(self, copy: Replica) -> None:
        """Decide when nothing more is to be expected; while the server is away, nothing is."""
        while True:
            await asyncio.sleep(TICK_S)
            self.silence.tick(copy.state.worker)
            if copy.ended is None and self._connection.is_up:
                with suppress(FleetError):
                    await self._look(copy)

    async def _look(self, copy: Replica) -> None:
        """Settle an attempt of which nothing was heard for too long."""
        if (worker := copy.state.worker) is not None:
            if await self.silence.is_longer_than(self.job.lease_s, worker):
                await self._settle(judge_lost(self.folder, f"worker {worker}"))
        elif await self._queue.has_job():
            self.silence.seconds = 0.0
            await self._stop_waiting()
        elif await self.silence.is_longer_than(UNCLAIMED_S, None):
            await self._settle(judge_lost(self.folder, "the worker that took it"))

    async def _stop_waiting(self) -> None:
        """End a job that no worker has taken, if that was requested."""
        if self._stop is not None and await take_back(self._connection, self.job):
            await self._settle(judge_unstarted(self.folder, self._stop.by))

    async def _repeat_stop(self) -> None:
        while not self._done.is_set() and self._stop is not None:
            await self._order(self._stop)
            await asyncio.sleep(_LOOK_S if self.state.worker else TICK_S)

    async def _order(self, order: StopOrder | AnswerOrder | ResendOrder) -> None:
        """Send an order to the worker, if it is known and the server can be reached."""
        if self.state.worker is not None:
            subject = subjects.order(self.state.worker, self.job.run)
            with suppress(FleetError):
                await self._connection.publish(subject, dump(order))


def _settlement_of(verdict: VerdictInfo, worker: str | None) -> Settlement:
    return Settlement(
        status=verdict.status,
        sentence=verdict.sentence,
        worker=worker,
        spent_usd=verdict.spent_usd,
        at_least=verdict.cost_at_least,
        settled_at=time.time(),
    )
