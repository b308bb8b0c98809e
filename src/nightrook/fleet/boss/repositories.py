"""Sends the user's repository with jobs: packed once for each folder, and only the needed parts."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from nightrook.fleet.blobs import send_blob
from nightrook.fleet.boss.heartbeats import BeatWatch
from nightrook.fleet.connection import Connection
from nightrook.fleet.messages import Job, RepositoryPlan
from nightrook.fleet.repository.formats import Origin, Packed
from nightrook.fleet.repository.pack import pack
from nightrook.fleet.subjects import ANY

_FRESH_S = 12 * 3600.0  # the server keeps it for a day, in which its job has to be taken


class SentRepository(NamedTuple):
    """A repository that waits on the server for the worker of a job."""

    plan: RepositoryPlan
    origin: Origin


Send = Callable[[Job], Awaitable[SentRepository]]
"""Sends the repository that a job works in."""


async def send_repository(connection: Connection, packed: Packed) -> SentRepository:
    """Store a packed repository on the server."""
    bundle = await send_blob(connection, Path(packed.bundle))
    return SentRepository(RepositoryPlan(bundle=bundle, shipment=packed.shipment), packed.origin)


class Repositories:
    """Sends the repositories of folders; jobs that work in the same folder share one bundle.

    A first attempt leaves out the commits that every worker which could take the job says it has.
    A worker that lacks them returns the job, and the next attempt brings all of them.
    """

    def __init__(
        self,
        connection: Connection,
        beats: BeatWatch,
        *,
        files: tuple[str, ...] = (),
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`files` are patterns of files outside of git to bring back; `say` reports notes."""
        self._connection = connection
        self._beats = beats
        self._files = files
        self._say = say
        self._said: set[str] = set()
        self._sent: dict[tuple[str, str, str, bool], tuple[float, SentRepository]] = {}
        self._alone = asyncio.Lock()

    def of(self, cwd: str) -> Send:
        """Return a function that sends the repository around a folder."""
        return lambda job: self.send(cwd, label=job.label, agent=job.agent, whole=job.attempt > 1)

    async def send(
        self, cwd: str, *, agent: str, label: str = ANY, whole: bool = False
    ) -> SentRepository:
        """Send the repository around a folder, unless that was done for jobs of the same kind."""
        key = (cwd, label, agent, whole)
        async with self._alone:
            sent_at, sent = self._sent.get(key, (0.0, None))
            if sent is None or time.monotonic() - sent_at > _FRESH_S:
                known = () if whole else await self._beats.known_to_all(label, agent)
                sent = await self._packed_and_sent(cwd, known)
                self._sent[key] = time.monotonic(), sent
            return sent

    async def _packed_and_sent(self, cwd: str, known: tuple[str, ...]) -> SentRepository:
        with TemporaryDirectory(prefix="rook-repository-") as folder:
            into = Path(folder, "git")
            packed = await asyncio.to_thread(pack, cwd, into, known=known, files=self._files)
            for note in packed.notes:
                if note not in self._said:
                    self._said.add(note)
                    self._say(note)
            return await send_repository(self._connection, packed)
