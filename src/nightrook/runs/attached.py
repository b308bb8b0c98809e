"""A run of another process, read from its folder alone: the agent does not notice."""

import asyncio
import time

from nightrook.model.errors import NightrookError
from nightrook.runs.heal import healed, is_cared_for
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo, beginning_of
from nightrook.story.feed import Feed, Position
from nightrook.story.integrity import checked_verdict
from nightrook.story.source import Source
from nightrook.story.tail import Tail

_POLL_S = 0.05  # between two looks at logs that do not grow
_HEAL_S = 2.0  # between two looks at whether the processes of the run are alive


class AttachedRun:
    """Follows a run that another process started; any number can do so at once."""

    def __init__(self, folder: RunFolder) -> None:
        info = folder.info()
        if info is None:
            raise NightrookError(f"run {folder.name!r} is being created: try again")
        self.folder = folder
        self.info = info
        self.feed = Feed(
            Source(info.agent, detect=info.piped, beginning=beginning_of(info)),
            lambda stream: Tail(folder.path, stream),
            label=info.called,
        )
        self._stdout = Tail(folder.path, "stdout")
        self._stderr = Tail(folder.path, "stderr")
        self._healed_at = float("-inf")

    @property
    def position(self) -> Position:
        """How far the run has been read."""
        return Position(self.feed.state.records, self._stdout.position, self._stderr.position)

    async def follow(self) -> VerdictInfo:
        """Read the run to its end and return its verdict.

        A run whose processes died is judged; a NightrookError says that this was not possible.
        """
        try:
            while await self._verdict() is None:
                await self.read()
                await asyncio.sleep(_POLL_S)
            await self._read_rest()
            self.feed.close()
            verdict = await asyncio.to_thread(checked_verdict, self.folder)
            assert verdict is not None, "a verdict stays"
            return verdict
        finally:
            self.feed.end()
            self._stdout.close()
            self._stderr.close()

    async def _read_rest(self) -> None:
        """Read to the end of the logs: once there is a verdict, nothing more is written."""
        exit = self.folder.exit()
        sizes = exit.log_sizes if exit else {}
        self._stdout.end, self._stderr.end = sizes.get("stdout"), sizes.get("stderr")
        await self.read(timed=False)

    async def read(self, *, timed: bool = True) -> None:
        """Read everything that the recorder has reported so far; if not `timed`, all there is."""
        while True:
            pieces, errors = self._stdout.read(timed=timed), self._stderr.read(timed=timed)
            if pieces:
                self.feed.take(pieces)
            if errors:
                self.feed.ring()
            if not pieces and not errors:
                return
            await asyncio.sleep(0)

    async def _verdict(self) -> VerdictInfo | None:
        if time.monotonic() - self._healed_at > _HEAL_S:
            self._healed_at = time.monotonic()
            if not await asyncio.to_thread(lambda: is_cared_for(healed(self.folder))):
                raise NightrookError(f"run {self.folder.name!r} has ended, but its verdict is lost")
        return self.folder.verdict()
