"""The process of a worker: it pulls jobs, claims and runs them, beats, obeys orders and drains.

`fleet/claims.py` explains why no job runs twice, and none is forgotten.
"""

import asyncio
import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import nats.errors
from msgspec.structs import replace
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from nightrook.asyncio_tasks import end_tasks, task_group
from nightrook.fleet import subjects
from nightrook.fleet.claims import CLAIM_S, Lease
from nightrook.fleet.connection import (
    REQUEST_S,
    Connection,
    FleetError,
)
from nightrook.fleet.messages import (
    AnswerOrder,
    BadMessageError,
    Beat,
    DrainOrder,
    Ended,
    Job,
    Order,
    ResendOrder,
    Running,
    StopOrder,
    claim_of,
    dump,
    load,
)
from nightrook.fleet.worker.heartbeat import Heartbeat, NameTakenError
from nightrook.fleet.worker.job_run import JobRun, known_commits
from nightrook.fleet.worker.journal import Entry, Journal
from nightrook.fleet.worker.pruning import USUAL, Keep, prunes
from nightrook.fleet.worker.rights import WorkerRights
from nightrook.store.files import Folder
from nightrook.version import __version__

_IDLE_S = 0.2
_FENCE_S = 0.25
_LOCK = "worker.lock"
_LOOK_S = 0.2

_ONE_NOW = json.dumps({"batch": 1, "no_wait": True}).encode()


@dataclass(frozen=True, kw_only=True)
class WorkerPlan:
    """The name of a worker, its rights, and how many jobs it runs at once."""

    name: str
    home: Path
    rights: WorkerRights
    labels: tuple[str, ...] = ()
    jobs: int = 1
    keep: Keep = USUAL

    @property
    def queues(self) -> list[tuple[str, str]]:
        """The label and agent of each queue that it pulls from."""
        labels = dict.fromkeys((*self.labels, subjects.ANY))
        return [(label, agent) for label in labels for agent in self.rights.agents]


class QueuePull:
    """Asks queues for a job.

    What comes after its request has timed out is not read: the boss finds that such a job was
    passed to a worker and not claimed.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._subscription: Subscription | None = None

    async def take(self, consumer: str) -> Msg | None:
        """The next job of a queue; None if there is none now."""
        client = self._connection.client
        try:
            if self._subscription is None:
                self._subscription = await client.subscribe(client.new_inbox())
            inbox = self._subscription.subject
            subject = f"$JS.API.CONSUMER.MSG.NEXT.{subjects.JOBS}.{consumer}"
            await client.publish(subject, _ONE_NOW, inbox)
            message = await self._subscription.next_msg(timeout=REQUEST_S)
        except (nats.errors.Error, TimeoutError):
            await self._forget()
            return None
        return None if "Status" in (message.headers or {}) or not message.reply else message

    async def _forget(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(nats.errors.Error):
                await subscription.unsubscribe()


@dataclass
class Worker:
    """A worker; `run` works until it is drained."""

    connection: Connection
    plan: WorkerPlan
    instance: str = field(default_factory=lambda: secrets.token_hex(8))
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    lease: Lease = field(default_factory=Lease)
    running: dict[str, JobRun] = field(default_factory=dict)
    """The jobs whose agents run, by the id of the attempt."""

    reporting: dict[str, JobRun] = field(default_factory=dict)
    """The jobs that have ended, and are not fully reported yet."""

    limits: dict[str, float] = field(default_factory=dict)
    problem: str | None = None
    known: tuple[str, ...] = ()
    """The commits of repositories that jobs need not bring."""

    _stopping: bool = False

    async def run(self) -> None:
        """Work until it is drained; a NameTakenError if another one has the name."""
        with Folder.made(self.plan.home) as home, home.lock(_LOCK) as is_mine:
            if not is_mine:
                raise NameTakenError(self.plan.name)
            heartbeat = Heartbeat(self.connection, self.plan.name, self.status)
            self.lease = heartbeat.lease
            self.known = await asyncio.to_thread(known_commits, self.plan.home)
            await heartbeat.start()
            async with task_group() as group:
                helpers = [
                    group.create_task(work)
                    for work in (
                        heartbeat.beat(),
                        self._fences(),
                        self._orders(group),
                        prunes(self._journal, self.plan.keep),
                    )
                ]
                for entry in await asyncio.to_thread(lambda: list(self._journal.entries())):
                    if not entry.is_reported:
                        self._report_later(group, entry)
                await self._pulls(group)
                while self.running or self.reporting:
                    await asyncio.sleep(_IDLE_S)
                await end_tasks(helpers)

    def drain(self) -> None:
        """Take no more jobs; `run` returns when the current ones have ended and are reported."""
        self.draining.set()

    def stop(self, by: str) -> None:
        """Drain, and stop the agents that run; again, and they are killed."""
        self.drain()
        again = self._stopping
        self._stopping = True
        for each in self.running.values():
            each.stop(StopOrder(attempt=each.job.attempt, by=by, kill=again))

    @property
    def _journal(self) -> Journal:
        return Journal(self.plan.home)

    async def _pulls(self, group: asyncio.TaskGroup) -> None:
        pull = QueuePull(self.connection)
        while not self.draining.is_set():
            if len(self.running) >= self.plan.jobs or not self.connection.is_up:
                await self._pause()
                continue
            taken = False
            for label, agent in self.plan.queues:
                if len(self.running) < self.plan.jobs and not self.draining.is_set():
                    taken |= await self._pull(group, pull, subjects.job_consumer(label, agent))
            if not taken:
                await self._pause()

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_IDLE_S):
                await self.draining.wait()

    async def _pull(self, group: asyncio.TaskGroup, pull: QueuePull, consumer: str) -> bool:
        """Take a job from a queue, if there is one."""
        asked_at = time.monotonic()
        message = await pull.take(consumer)
        if message is None:
            return False
        try:
            job: Job = load(message.data, Job)
        except BadMessageError as error:
            self.problem = f"a job was not taken: {error}"
            await self._refuse_unreadable(message, str(error))
            return True
        job_run = self._job_run(job)
        self.running[job.id] = job_run
        group.create_task(self._work(group, job_run, message, asked_at))
        return True

    def _job_run(self, job: Job) -> JobRun:
        return JobRun(
            job,
            connection=self.connection,
            worker=self.plan.name,
            instance=self.instance,
            journal=self._journal,
            rights=self.plan.rights,
            lease=self.lease,
        )

    async def _work(
        self, group: asyncio.TaskGroup, job_run: JobRun, message: Msg, asked_at: float
    ) -> None:
        """Claim a job, run it, and report it."""
        try:
            if await job_run.claim(lambda: self._take(message, asked_at)):
                ended = await job_run.work()
            else:
                ended = await asyncio.to_thread(job_run.left_behind, job_run.entry)
        finally:
            del self.running[job_run.job.id]
        self._note_limits(ended)
        if job_run.job.repository is not None:
            self.known = await asyncio.to_thread(known_commits, self.plan.home)
        group.create_task(self._report(job_run, ended))

    async def _take(self, message: Msg, asked_at: float) -> bool:
        """Acknowledge a job, which claims it; False if it is not certain that this was in time."""
        await self.connection.ask(message.reply, b"+ACK")
        is_early = time.monotonic() - asked_at < CLAIM_S
        return is_early and not self.draining.is_set()  # guards: draining-starts-nothing

    async def _refuse_unreadable(self, message: Msg, reason: str) -> None:
        """Report a job that this version cannot read, by its subject."""
        with suppress(FleetError, ValueError):
            await self.connection.ask(message.reply, b"+ACK")
            *_, run, attempt = message.subject.split(".")
            subject = subjects.log(self.plan.name, run, int(attempt), "ended")
            claim = claim_of(message.data)
            refused = Ended(claim=claim, end="refused", reason=f"{self.plan.name}: {reason}")
            await self.connection.publish(subject, dump(refused))

    async def _report(self, job_run: JobRun, ended: Ended) -> None:
        self.reporting[job_run.job.id] = job_run
        try:
            await job_run.report(ended)
        finally:
            del self.reporting[job_run.job.id]

    def _report_later(self, group: asyncio.TaskGroup, entry: Entry) -> None:
        """Report an attempt of an earlier process, or one that was reported before."""
        job_run = self._job_run(entry.job)
        self.reporting[job_run.job.id] = job_run  # at once: an order to send it may come twice
        group.create_task(self._report_left_behind(job_run, entry))

    async def _report_left_behind(self, job_run: JobRun, entry: Entry) -> None:
        ended = await asyncio.to_thread(job_run.left_behind, entry)
        await self._report(job_run, ended)

    def _note_limits(self, ended: Ended) -> None:
        """Remember a used-up quota, so that the boss holds back jobs for it."""
        stream = ended.verdict.facts.stream if ended.verdict else None
        if stream and stream.limited and stream.resets_at is not None and ended.info:
            self.limits[ended.info.agent or ""] = stream.resets_at

    async def _fences(self) -> None:
        while True:
            for each in [*self.running.values()]:
                each.fence()
            await asyncio.sleep(_FENCE_S)

    def status(self) -> Beat:
        """The next beat: the jobs that run here, the load, and problems."""
        now = time.time()
        self.limits = {each: at for each, at in self.limits.items() if at > now}
        jobs = (*self.running.values(), *self.reporting.values())
        return Beat(
            instance=self.instance,
            version=__version__,
            labels=self.plan.labels,
            agents=self.plan.rights.agents,
            jobs=self.plan.jobs,
            running=tuple(
                Running(run=each.job.run, attempt=each.job.attempt, behind=each.behind)
                for each in jobs
            ),
            draining=self.draining.is_set(),
            load=os.getloadavg()[0],
            problem=self.problem or next((each.problem for each in jobs if each.problem), None),
            limits=self.limits,
            known=self.known,
        )

    async def _orders(self, group: asyncio.TaskGroup) -> None:
        """Obey orders as they come, and those that were missed while the server was away.

        After a reconnect, the last order for the worker itself and for each of its runs is read
        from the server. An order may come twice.
        """

        async def take(message: Msg) -> None:
            self._obey(group, message.subject, message.data)

        connection, name = self.connection, self.plan.name
        await connection.client.subscribe(subjects.orders_of_worker(name), cb=take)
        reconnects = connection.reconnects
        while True:
            await asyncio.sleep(_LOOK_S)
            if not connection.is_up or reconnects == connection.reconnects:
                continue
            reconnects = connection.reconnects
            for run in (*[each.job.run for each in self.running.values()], subjects.WHOLE_WORKER):
                subject = subjects.order(name, run)
                with suppress(FleetError):
                    get = f"$JS.API.DIRECT.GET.{subjects.ORDERS}.{subject}"
                    self._obey(group, subject, await connection.ask(get))

    def _obey(self, group: asyncio.TaskGroup, subject: str, data: bytes) -> None:
        """Obey one order; one that cannot be read, or is about no run here, is ignored."""
        try:
            order: Order = load(data, Order)
        except BadMessageError:
            return
        run = subject.rpartition(".")[2]
        match order:
            case DrainOrder():
                self.drain()
            case StopOrder(attempt=attempt):
                if (each := self.running.get(f"{run}/{attempt}")) is not None:
                    each.stop(order)
            case AnswerOrder(attempt=attempt):
                if (each := self.running.get(f"{run}/{attempt}")) is not None:
                    each.answer(order)
            case ResendOrder(attempt=attempt):
                self._resend(f"{run}/{attempt}", order, group)

    def _resend(self, id: str, order: ResendOrder, group: asyncio.TaskGroup) -> None:
        """Send logs again: of a run that is known, or of one that was reported before."""
        each = self.running.get(id) or self.reporting.get(id)
        if each is not None:
            if each.shipper is not None:
                each.shipper.rewind(dict(order.positions))
            return
        for entry in self._journal.entries():
            if entry.job.id == id:
                again = replace(entry, positions={**entry.positions, **order.positions})
                self._report_later(group, again)
