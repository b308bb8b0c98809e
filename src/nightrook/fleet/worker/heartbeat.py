"""The heartbeats of a worker: every second, confirmed by the server, under a unique name.

Each beat expects that the last one on its subject was this worker's. A process that starts under a
name which another one beats for finds out, and ends; an earlier process that was killed is silent.
"""

import asyncio
import time
from collections.abc import Callable

from nightrook.fleet import subjects
from nightrook.fleet.claims import BEAT_S, Lease
from nightrook.fleet.connection import ConflictError, Connection, FleetError
from nightrook.fleet.messages import Beat, dump

_NAME_S = 2.5
_RENEW_S = 5.0


class NameTakenError(FleetError):
    """Another worker of this name is running."""

    def __init__(self, name: str) -> None:
        super().__init__(f"another worker named {name!r} is running: give each its own name")


class Heartbeat:
    """Beats for a worker; `lease` knows when it was last heard."""

    def __init__(self, connection: Connection, name: str, status: Callable[[], Beat]) -> None:
        self.lease = Lease()
        self._connection = connection
        self._name = name
        self._status = status
        self._last: int | None = 0
        self._renewed_at = time.monotonic()

    async def start(self) -> None:
        """Beat for the first time, once there is a server, if no other worker of this name does."""
        while True:
            try:
                await self._beat()
                return
            except ConflictError as conflict:
                if self._last:
                    raise NameTakenError(self._name) from None
                self._last = conflict.last  # of an earlier process: is it silent now?
                await asyncio.sleep(_NAME_S)
            except FleetError:  # it is away, or no boss has made its streams yet
                await self._renew()
                await asyncio.sleep(BEAT_S)

    async def beat(self) -> None:
        """Beat until the task is cancelled; a NameTakenError if another process took the name."""
        while True:
            next_at = time.monotonic() + BEAT_S
            try:
                await self._beat()
            except ConflictError:
                raise NameTakenError(self._name) from None
            except FleetError:
                self._last = None  # the server may have the last one, or not
                await self._renew()
            await asyncio.sleep(max(0.0, next_at - time.monotonic()))

    async def _beat(self) -> None:
        sent_at = self.lease.start()
        subject = subjects.beat(self._name)
        self._last = await self._connection.publish(
            subject, dump(self._status()), expected=self._last
        )
        self.lease.confirm(sent_at)

    async def _renew(self) -> None:
        """Connect again if no beat is confirmed for long, although the server is connected.

        What connects while the server reloads its file may stay connected and reach nothing.
        """
        now = time.monotonic()
        silent_s = min(now - self._renewed_at, self.lease.silent_s)
        if self._connection.is_up and silent_s >= _RENEW_S:  # guards: unheard-connects-again
            self._renewed_at = now
            await self._connection.renew()
