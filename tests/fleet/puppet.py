"""A worker that says whatever a test wants: the boss must cope with all of it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from nightrook.fleet import subjects
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun
from nightrook.fleet.connection import Address, Connection, connected
from nightrook.fleet.messages import Claimed, Ended, Job, ResendOrder, dump, load
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.worker.worker import QueuePull
from nightrook.store.run_formats import ExitInfo, RunInfo, VerdictInfo, WrittenLog
from tests.fleet.fleets import job

TRUTH = (Path(__file__).parent.parent.parent / "examples" / "session.jsonl").read_bytes()


class Puppet:
    """A connection under the name of a worker, and the job that it has taken."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.connection = connection
        self.name = name
        self.job: Job | None = None

    @property
    def taken(self) -> Job:
        assert self.job is not None
        return self.job

    async def take(self) -> Job:
        """Take the next job from the queue, and claim it."""
        pull = QueuePull(self.connection)
        while (message := await pull.take(subjects.job_consumer("any", "claude"))) is None:
            await asyncio.sleep(0.02)
        await self.connection.ask(message.reply, b"+ACK")
        self.job = load(message.data, Job)
        await self.send("claimed", dump(Claimed(claim=self.taken.claim, instance="i")))
        return self.taken

    async def send(self, what: str, data: bytes, **headers: str) -> None:
        """Publish anything about the run."""
        subject = subjects.log(self.name, self.taken.run, self.taken.attempt, what)
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        await self.connection.publish(subject, data, headers=named)

    async def chunk(self, offset: int, data: bytes, log: str = "stdout") -> None:
        """Publish a piece of a log."""
        await self.send(log, data, Rook_Offset=str(offset))

    async def end(self, size: int = len(TRUTH), *, clock: float = 2.0, **more: object) -> None:
        """Report a success, with so many bytes of output."""
        logs = {"stdout": WrittenLog(size=size, sha256=hashlib.sha256(TRUTH).hexdigest())}
        ended = Ended(
            claim=self.taken.claim,
            info=RunInfo(command=["claude"], cwd="/work", started_at=clock, name="../../etc"),
            exit=ExitInfo(started=True, exit_code=0, ended_at=clock + 1, logs=logs),
            verdict=VerdictInfo(
                **{
                    "status": "success",
                    "sentence": "",
                    "exit_code": 0,
                    "ended_at": clock + 1,
                    **more,
                }  # type: ignore[arg-type]
            ),
            sizes={"stdout": size},
        )
        await self.send("ended", dump(ended))

    async def asked_again(self) -> ResendOrder:
        """Wait until the boss asks for bytes that it lacks."""
        orders = await self.connection.client.subscribe(subjects.orders_of_worker(self.name))
        message = await orders.next_msg(timeout=30)
        return load(message.data, ResendOrder)


@asynccontextmanager
async def puppet(server: LocalServer, name: str = "w1") -> AsyncIterator[Puppet]:
    """A worker that only does what it is asked for."""
    async with connected(Address(url=server.url, user=name)) as connection:
        yield Puppet(connection, name)


@asynccontextmanager
async def claimed(
    fleet: Fleet, server: LocalServer, name: str = "w1"
) -> AsyncIterator[tuple[FleetRun, Puppet]]:
    """A run that a puppet has claimed."""
    async with puppet(server, name) as worker, FleetRun(fleet, job()) as run:
        await worker.take()
        yield run, worker
