"""One run as it is shown: its log decoded once, folded once, for all viewers."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256

from nightrook.model.errors import NightrookError, UnknownAgentError
from nightrook.model.events import PermissionRequested
from nightrook.model.price import Prices
from nightrook.model.snapshot import Snapshot
from nightrook.model.timeline import Timeline
from nightrook.process.liveness import is_same_process
from nightrook.store import decisions
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, VerdictInfo, at_work, beginning_of
from nightrook.story.bell import Bell
from nightrook.story.integrity import checked_verdict
from nightrook.story.source import Source
from nightrook.story.tail import Tail
from nightrook.version import __version__
from nightrook.web.folds.outline import Outline

OnChange = Callable[["RunFold"], None]


class RunFold:
    """Reads the log of a run as it grows, in small steps, and keeps what it folds to.

    `poke` says that there may be more to read. Only one task reads.
    """

    def __init__(
        self, folder: RunFolder, info: RunInfo, prices: Prices, on_change: OnChange
    ) -> None:
        self.folder = folder
        self.info = info
        self.timeline = Timeline()
        self.outline = Outline(self.timeline)
        self.is_complete = False
        """Whether all of it is folded: nothing more will come."""
        self.verdict: VerdictInfo | None = None
        """How it ended; checked against the logs once it is complete."""
        self.problem: str | None = None
        """What of it cannot be shown, and why."""
        self.is_healing = False
        self.is_followed = False
        """Whether it is read as it grows, and its processes are watched."""
        self.is_alive = at_work(info, is_same_process)
        """Whether a process worked on it at the last look."""
        self.epoch = _epoch(info)
        self.source = self._source(prices)
        self._on_change = on_change
        self._tail = Tail(folder.path, "stdout")
        self._bell = Bell()
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._may_have_ended = True
        self._may_have_decided = True

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.folder.name

    def look(self) -> bool:
        """Look whether a process works on it; return whether that has changed."""
        was_alive = self.is_alive
        self.is_alive = self.verdict is None and at_work(self.info, is_same_process)
        return self.is_alive != was_alive

    @property
    def exists(self) -> bool:
        """Whether its folder is still there."""
        return self.folder.path.is_dir()

    @property
    def is_reading(self) -> bool:
        """Whether there is more to read right now."""
        return self._task is not None

    @property
    def text_size(self) -> int:
        """How many of the first bytes of stdout are plain text."""
        return self.source.text_size

    def snapshot(self) -> Snapshot:
        """What is true of it now."""
        return self.source.state.snapshot()

    def poke(self, *, ended: bool = False, decided: bool = False) -> None:
        """Read on: there may be more, a verdict, or a decision."""
        self._may_have_ended |= ended
        self._may_have_decided |= decided
        self._again = True
        if self._task is None and not self.is_complete:
            self._task = asyncio.get_running_loop().create_task(self._read())

    async def until(self, enough: Callable[[], bool]) -> None:
        """Wait until enough is folded, or all that there is now."""
        while self._task is not None and not enough():
            await self._bell.wait(self._bell.count)

    async def caught_up(self) -> None:
        """Fold all that is written now."""
        self.poke(ended=True, decided=True)
        await self.until(lambda: False)

    def close(self) -> None:
        """Stop reading and close the log."""
        if self._task is not None:
            self._task.cancel()
        self._tail.close()

    def _source(self, prices: Prices) -> Source:
        info = self.info
        beginning = beginning_of(info)
        try:
            return Source(info.agent, detect=info.piped, beginning=beginning, prices=prices)
        except UnknownAgentError as error:
            self.problem = str(error)
            return Source(None, beginning=beginning, prices=prices)

    async def _read(self) -> None:
        try:
            while self._again and not self.is_complete:
                self._again = False
                await self._read_once()
        except (NightrookError, OSError) as error:
            self.problem = str(error)
        finally:
            self._task = None
            self._bell.ring()
            self._on_change(self)

    async def _read_once(self) -> None:
        verdict = None
        if self._may_have_ended:
            self._may_have_ended = False
            verdict = self.folder.verdict()
            self.verdict = verdict or self.verdict
        if verdict is not None:
            self._limit_log()
        while self._step(timed=verdict is None):
            self._bell.ring()
            self._on_change(self)
            await asyncio.sleep(0)
        if verdict is not None:
            await self._finish(verdict)
        elif self._may_have_decided:
            self._may_have_decided = False
            self._take_decisions()

    def _step(self, *, timed: bool) -> bool:
        """Fold the next bytes; False if there are none yet."""
        pieces = self._tail.read(timed=timed)
        for data, at in pieces:
            self.timeline.take(self.source.feed(data, at))
        return bool(pieces)

    def _limit_log(self) -> None:
        exit = self.folder.exit()
        self._tail.end = exit.log_sizes.get("stdout") if exit else None

    async def _finish(self, verdict: VerdictInfo) -> None:
        self.timeline.take(self.source.close())
        self._tail.close()
        checked = await asyncio.to_thread(checked_verdict, self.folder)
        self.verdict = checked or verdict
        self.is_complete, self.is_alive = True, False

    def _take_decisions(self) -> None:
        """Note which questions were answered: the stream does not report that."""
        if not self.source.state.asked:
            return
        with suppress(NightrookError):
            for made in decisions.read(self.folder).values():
                self.source.answered(PermissionRequested(id=made.id, tool_id=made.tool_id))


def _epoch(info: RunInfo) -> str:
    """Name the way in which this version of rook counts the changes of this run."""
    words = f"{__version__} {info.name} {info.started_at!r}"
    return f"{__version__}-{sha256(words.encode()).hexdigest()[:8]}"
