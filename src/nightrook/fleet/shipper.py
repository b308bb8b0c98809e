"""Ships a run folder by position as it grows: the agent never waits for it.

Each pass reads what is new in every log and publishes it in chunks, a bounded number at a time. A
position counts as sent when the server has confirmed all before it. After an error, a reconnect or
a restart, sending continues at the confirmed position: the chunks may be cut differently then,
which is harmless, because readers write by position.

All sinks of a process send at the same ticks of its clock, so that the chunks of many runs leave in
one write and are confirmed in one read: one by one, each would cost four times as much.
"""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nightrook.fleet import subjects
from nightrook.fleet.connection import (
    Confirmation,
    Connection,
    FleetError,
    RefusedError,
    ServerAwayError,
)
from nightrook.fleet.messages import Claimed, Ended, dump
from nightrook.fleet.shipped_files import FILES, GROWING
from nightrook.fleet.subjects import ShippedLog
from nightrook.model.errors import NightrookError
from nightrook.store.files import open_file

CHUNK = 64 * 1024
_WINDOW = 32  # chunks that the server has not confirmed yet
_TICK_S = 0.075  # what is written between two ticks is sent together
_IDLE_S = 0.5
_FIRST_RETRY_S, _LAST_RETRY_S = 0.1, 5.0


class Attempt(NamedTuple):
    """The attempt that chunks belong to."""

    worker: str
    run: str
    attempt: int = 1


class _Sent(NamedTuple):
    """A chunk that the server has not confirmed yet."""

    log: ShippedLog
    end: int
    confirmation: Confirmation


class Shipper:
    """Sends one run folder to the server.

    `positions` are those that the server has confirmed; they change as more is confirmed.
    """

    def __init__(
        self,
        connection: Connection,
        attempt: Attempt,
        folder: Path,
        positions: dict[ShippedLog, int] | None = None,
    ) -> None:
        self.attempt = attempt
        self.positions: dict[ShippedLog, int] = dict(positions or {})
        self.problem: str | None = None
        """The reason why nothing can be sent now; None if all is well."""
        self._connection = connection
        self._paths = {log: folder / name for log, name in FILES.items()}
        self._subjects = {log: subjects.log(*attempt, log) for log in FILES}
        self._open: dict[ShippedLog, int] = {}
        self._retry_s = _FIRST_RETRY_S
        self._sending = secrets.token_hex(4)  # what is sent again has another id

    def close(self) -> None:
        """Close the files."""
        for fd in self._open.values():
            os.close(fd)
        self._open.clear()

    @property
    def behind(self) -> int:
        """The number of bytes that the server does not have yet."""
        return sum(size - self.positions.get(log, 0) for log, size in self.sizes().items())

    def sizes(self) -> dict[ShippedLog, int]:
        """Return the size of each log."""
        found = {}
        for log in FILES:
            if (fd := self._file(log)) is not None:
                found[log] = os.fstat(fd).st_size
        return found

    def rewind(self, positions: dict[str, int]) -> None:
        """Send again from these positions: the server has lost what came after them."""
        self._sending = secrets.token_hex(4)
        for log in FILES:
            if log in positions:
                self.positions[log] = min(self.positions.get(log, 0), positions[log])

    async def claim(self, message: Claimed) -> None:
        """Report that the attempt starts; raises if the server does not confirm it."""
        await self._publish_moment("claimed", dump(message))

    async def start(self, message: Claimed) -> None:
        """Report how the attempt was started; raises if the server does not confirm it."""
        await self._publish_moment("started", dump(message))

    async def follow(self, more: Callable[[int], Awaitable[None]], seen: Callable[[], int]) -> None:
        """Send the logs as they grow, until the task is cancelled; `more` waits for new bytes."""
        while True:
            count = seen()
            sent = await self._pass(GROWING)
            if sent is None:
                await self._back_off()
            elif not sent:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_IDLE_S):
                        await more(count)
            await asyncio.sleep(_TICK_S - asyncio.get_running_loop().time() % _TICK_S)

    async def finish(
        self, ended: Callable[[dict[str, int]], Ended], timeout_s: float | None = None
    ) -> bool:
        """Send all that is left, then how the run ended; False if that took longer than it may.

        `ended` makes the last message from the sizes of the logs.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while not await self._finished(ended):
                    await self._back_off()
            return True
        except TimeoutError:
            return False

    async def _finished(self, ended: Callable[[dict[str, int]], Ended]) -> bool:
        while sent := await self._pass(tuple(FILES)):
            pass
        if sent is None:
            return False
        sizes = {str(log): position for log, position in self.positions.items()}
        try:
            await self._publish_moment("ended", dump(ended(sizes)))
        except FleetError as error:
            self.problem = str(error)
            return False
        return True

    async def _publish_moment(self, what: subjects.Moment, data: bytes) -> None:
        worker, run, attempt = self.attempt
        id = f"{worker}/{run}/{attempt}/{what}"
        await self._connection.publish(subjects.log(worker, run, attempt, what), data, id=id)

    async def _back_off(self) -> None:
        await asyncio.sleep(self._retry_s)
        self._retry_s = min(_LAST_RETRY_S, self._retry_s * 2)

    async def _pass(self, logs: tuple[ShippedLog, ...]) -> int | None:
        """Send the new bytes of each log; return their number, None if that must be tried again.

        The times are measured first: they never run ahead of the bytes that they are about.
        """
        ends = {log: end for log in reversed(logs) if (end := self._size(log))}
        sent = 0
        try:
            while window := await self._begin_window(logs, ends):
                sent += await self._confirm(window)
        except (ServerAwayError, RefusedError) as error:
            self.problem = str(error)
            return None
        self.problem, self._retry_s = None, _FIRST_RETRY_S
        return sent

    async def _begin_window(
        self, logs: tuple[ShippedLog, ...], ends: dict[ShippedLog, int]
    ) -> list[_Sent]:
        """Publish the next chunks up to these positions; nothing if there are none."""
        window: list[_Sent] = []
        try:
            for log in logs:
                position, end = self.positions.get(log, 0), ends.get(log, 0)
                while position < end and len(window) < _WINDOW:
                    data = os.pread(self._open[log], min(CHUNK, end - position), position)
                    if not data:  # it was cut meanwhile
                        ends[log] = end = position
                        break
                    confirmation = await self._begin(log, position, data)
                    position += len(data)
                    window.append(_Sent(log, position, confirmation))
        except BaseException:
            _cancel(window)
            raise
        return window

    async def _confirm(self, window: list[_Sent]) -> int:
        """Wait until the server has all chunks; return how many bytes."""
        sending, sent = self._sending, 0
        try:
            for log, end, confirmation in window:
                await self._connection.confirmed(confirmation)
                if sending == self._sending:  # otherwise they are sent again
                    sent += end - self.positions.get(log, 0)
                    self.positions[log] = end
        except BaseException:
            _cancel(window)
            raise
        return sent

    async def _begin(self, log: ShippedLog, offset: int, data: bytes) -> Confirmation:
        worker, run, attempt = self.attempt
        return await self._connection.begin_publish(
            self._subjects[log],
            data,
            id=f"{worker}/{run}/{attempt}/{log}/{offset}/{len(data)}/{self._sending}",
            headers={subjects.OFFSET: str(offset)},
        )

    def _size(self, log: ShippedLog) -> int | None:
        fd = self._file(log)
        return None if fd is None else os.fstat(fd).st_size

    def _file(self, log: ShippedLog) -> int | None:
        """The open file of a log; None if it does not exist, or is not a plain file."""
        if log not in self._open:
            path = self._paths[log]
            if not os.path.lexists(path):  # most runs lack some: quicker than a refused open
                return None
            try:
                fd = open_file(path)
            except NightrookError:
                return None
            if fd is None:
                return None
            self._open[log] = fd
        return self._open[log]


def _cancel(window: list[_Sent]) -> None:
    for chunk in window:
        chunk.confirmation.cancel()
