"""The beats of all workers, as this process sees them: by its own clock, never by theirs."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from nightrook.asyncio_tasks import end_tasks
from nightrook.fleet import subjects
from nightrook.fleet.claims import SILENT_S
from nightrook.fleet.connection import Connection
from nightrook.fleet.messages import BadMessageError, Beat, load
from nightrook.fleet.stream_reader import JetStreamReader

TICK_S = 0.25
_LONGEST_TICK_S = 0.5
_FIRST_BEATS_S = 1.0


class Heard:
    """The last beat of a worker, and how many this process has heard."""

    def __init__(self, beat: Beat) -> None:
        self.beat = beat
        self.count = 0
        self.silent_s = 0.0
        """The time in which nothing came from it, while the server could be reached."""

    def runs(self, run: str, attempt: int) -> bool:
        """True if the worker's heartbeat lists an attempt as running or being reported."""
        return any((each.run, each.attempt) == (run, attempt) for each in self.beat.running)


class BeatWatch:
    """Listens to all beats, from `start` to `close`."""

    def __init__(self, connection: Connection, now: Callable[[], float] = time.monotonic) -> None:
        self.workers: dict[str, Heard] = {}
        self._connection = connection
        self._now = now
        self._ticked_at = now()
        self._has_listened = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start listening."""
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._ticks())]

    async def close(self) -> None:
        """Stop listening."""
        await end_tasks(self._tasks)

    def take(self, worker: str, beat: Beat) -> None:
        """A worker has beaten; the first one that is seen may be old."""
        heard = self.workers.setdefault(worker, Heard(beat))
        heard.beat = beat
        heard.count += 1
        heard.silent_s = 0.0

    def tick(self) -> float:
        """Count the time since the last tick, if the server could be reached; return it.

        A process that was stopped does not count the time in which it could not listen.
        """
        now = self._now()
        elapsed = min(now - self._ticked_at, _LONGEST_TICK_S) if self._connection.is_up else 0.0
        self._ticked_at = now
        for heard in self.workers.values():
            heard.silent_s += elapsed
        return elapsed

    async def _ticks(self) -> None:
        while True:
            self.tick()
            await asyncio.sleep(TICK_S)

    async def _listen(self) -> None:
        reader = JetStreamReader(self._connection, subjects.BEATS, "beat.*", newest=True)
        async for message in reader.messages():
            if message is None:
                self._has_listened.set()
                continue
            try:
                beat: Beat = load(message.data, Beat)
            except BadMessageError:
                continue  # of a newer or hostile worker: its runs are not heard of
            self.take(message.subject.partition(".")[2], beat)

    async def known_to_all(self, label: str, agent: str) -> tuple[str, ...]:
        """The commits that every worker which could take such a job says it has."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_BEATS_S):
                await self._has_listened.wait()
        able = [
            set(heard.beat.known)
            for heard in self.workers.values()
            if heard.silent_s < SILENT_S and heard.beat.takes(label, agent)
        ]
        return tuple(sorted(set.intersection(*able))) if able else ()

    @property
    def limited_agents(self) -> dict[str, float]:
        """The agents whose quota a worker reports as used up, and when it resets."""
        limits: dict[str, float] = {}
        for heard in self.workers.values():
            for agent, at in heard.beat.limits.items():
                limits[agent] = max(at, limits.get(agent, 0.0))
        return limits
