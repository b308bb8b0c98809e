"""The runs that the page shows: each read and folded once, for all viewers.

Runs that are alive are kept while they are followed; of those that have ended, the last ones.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from nightrook.model.price import Prices
from nightrook.prices import PriceBook
from nightrook.process.liveness import is_same_process
from nightrook.runs.crash_recovery import recovered
from nightrook.store.list import find_run
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, at_work
from nightrook.story.follow import RunFollower
from nightrook.story.story import growing_story
from nightrook.version import __version__
from nightrook.web.outline import Outline
from nightrook.web.replies import ApiError

OnChange = Callable[["ShownRun"], None]

_MOST_RUNS = 64
_MOST_ITEMS = 500_000
"""Most items of all ended runs kept in memory; an item needs some 200 bytes."""


class ShownRun(RunFollower):
    """One run as all viewers see it: read as it grows, in small steps, with its timeline."""

    def __init__(
        self, folder: RunFolder, info: RunInfo, prices: Prices, on_change: OnChange
    ) -> None:
        story = growing_story(folder, info, prices=prices, keeps_timeline=True, has_readers=False)
        super().__init__(story, lambda: on_change(self))
        self.info = info
        self.timeline = story.timeline
        self.outline = Outline(story.timeline)
        self.is_recovering = False
        self.is_followed = False
        """True if it is read as it grows, and its processes are watched."""
        self._is_worked_on = at_work(info, is_same_process)
        self.epoch = _epoch(info)

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.folder.name

    @property
    def status(self) -> str:
        """Outcome, or the state of a run without one."""
        if self.verdict is not None:
            return self.verdict.status
        return "running" if self.is_alive or self.is_recovering else "not kept"

    @property
    def problem_text(self) -> str | None:
        """Problem with showing it; None if there is none."""
        problem = self.problem or self.story.problem
        return None if problem is None else str(problem)

    @property
    def is_alive(self) -> bool:
        """True if a process worked on it at the last look."""
        return self._is_worked_on and not self.is_complete

    def look(self) -> bool:
        """Check whether a process works on it; return True if that has changed."""
        was_alive = self.is_alive
        self._is_worked_on = self.verdict is None and at_work(self.info, is_same_process)
        return self.is_alive != was_alive

    @property
    def exists(self) -> bool:
        """True if its folder is still there."""
        return self.folder.path.is_dir()


def _epoch(info: RunInfo) -> str:
    """Name the way in which this version of rook counts the changes of this run."""
    words = f"{__version__} {info.name} {info.started_at!r}"
    return f"{__version__}-{sha256(words.encode()).hexdigest()[:8]}"


class ShownRuns:
    """The shown runs of a home; of those that have ended, the last ones are kept."""

    def __init__(self, home: Path, on_change: OnChange) -> None:
        self.home = home
        self._on_change = on_change
        self._prices: Prices = PriceBook()
        self._runs: OrderedDict[str, ShownRun] = OrderedDict()
        self._healing: set[asyncio.Task[None]] = set()

    def warm(self) -> None:
        """Load the list of prices, which takes a while, before a run needs it."""
        self._prices("", None)

    async def get(self, name: str) -> ShownRun:
        """The run of that name, which starts to read if it is new; raises why there is none."""
        run = self._runs.get(name)
        if run is not None and run.is_followed:
            return run
        if run is not None and not run.exists:
            self.drop(name)
            raise ApiError(410, f"run {name} was removed while it was shown: go back to the list")
        if run is None:
            folder = await asyncio.to_thread(find_run, self.home, name)
            run = self._runs.get(folder.name) or await self._made(folder)
        self._runs.move_to_end(run.name)
        self.check(run)
        return run

    def drop(self, name: str) -> None:
        """Drop a run from memory."""
        run = self._runs.pop(name, None)
        if run is not None:
            run.close()

    def close(self) -> None:
        """Drop all runs from memory."""
        for name in list(self._runs):
            self.drop(name)

    async def _made(self, folder: RunFolder) -> ShownRun:
        info, verdict = await asyncio.to_thread(lambda: (folder.info(), folder.verdict()))
        if info is None:
            way_out = f"read its raw log with  rook decode {folder.name}"
            raise ApiError(422, f"run {folder.name} has no run.json: {way_out}")
        known = self._runs.get(folder.name)  # made while we waited
        if known is not None:
            return known
        run = ShownRun(folder, info, self._prices, self._on_change)
        if verdict is not None:
            run.end(verdict)
        self._runs[run.name] = run
        self._make_room()
        run.wake()
        return run

    def _make_room(self) -> None:
        ended = [run for run in self._runs.values() if run.is_complete]
        items = sum(len(run.timeline.items) for run in ended)
        while len(ended) > 1 and (len(ended) > _MOST_RUNS or items > _MOST_ITEMS):
            oldest = ended.pop(0)
            items -= len(oldest.timeline.items)
            self.drop(oldest.name)

    def check(self, run: ShownRun) -> None:
        """Check whether a run is alive; judge one whose processes died, in the background."""
        if run.verdict is not None or run.is_recovering:
            return
        has_changed = run.look()
        if not run.is_alive:
            run.is_recovering = True
            task = asyncio.get_running_loop().create_task(self._heal(run))
            self._healing.add(task)
            task.add_done_callback(self._healing.discard)
        if has_changed:
            self._on_change(run)

    async def _heal(self, run: ShownRun) -> None:
        try:
            await asyncio.to_thread(recovered, run.folder)
        finally:
            run.is_recovering = False
            run.wake(decided=False)
