"""Follows a recorder at work: each ring of its bell reads its logs, without a task in between."""

import asyncio
from collections.abc import Callable, Sequence

from nightrook.process.recorder_process import RecorderProcess
from nightrook.story.tail import Piece, Tail

_TICK_S = 0.25

Take = Callable[[list[Piece]], None]


class RecorderLogs:
    """Reads logs while a recorder appends to them, and passes on what is new.

    `tick` is called a few times a second, whether there is anything new or not. An exception that
    it or a `Take` raises ends the following.
    """

    def __init__(
        self,
        recorder: RecorderProcess,
        logs: Sequence[tuple[Tail, Take]],
        *,
        tick: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._logs = logs
        self._tick = tick
        self._loop = asyncio.get_running_loop()
        self._idle = False
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def follow(self) -> None:
        """Follow until the recorder has ended; what it wrote last may still be unread then."""
        self._loop.add_reader(self._recorder.bell, self._do, self._on_bell)
        self._loop.call_later(_TICK_S, self._do, self._on_tick)
        try:
            await self._ended
        finally:
            self._ended.cancel()
            self._loop.remove_reader(self._recorder.bell)

    def read(self, *, timed: bool = False) -> bool:
        """Pass on the next pieces of each log; whether there is more than was read.

        With `timed`, bytes that no bell has reported yet are left for later.
        """
        more = False
        for tail, take in self._logs:
            if pieces := tail.read(timed=timed):
                take(pieces)
                self._idle = False
                more = more or tail.is_behind
        return more

    def _do(self, step: Callable[[], None]) -> None:
        if self._ended.done():
            return
        try:
            step()
        except Exception as error:
            self._ended.set_exception(error)

    def _on_bell(self) -> None:
        bells = self._recorder.hear()
        for tail, _ in self._logs:
            tail.hear(bells or b"")
        self._catch_up()
        if bells is None:
            self._ended.set_result(None)

    def _catch_up(self) -> None:
        """Read; if that was not all, read again after other callbacks had their turn."""
        if self.read(timed=True):
            self._loop.call_soon(self._do, self._catch_up)

    def _on_tick(self) -> None:
        self._loop.call_later(_TICK_S, self._do, self._on_tick)
        if self._idle:
            self.read(timed=True)  # in case a bell was lost
        self._idle = True
        self._tick()
