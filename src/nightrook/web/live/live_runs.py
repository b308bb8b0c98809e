"""Follows the runs that are alive while a page is open: one watcher for all runs and viewers."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from nightrook.model.errors import NightrookError
from nightrook.process.folder_watch import Change, FolderWatch, PolledFolderWatch
from nightrook.store.file_names import DECISIONS, INFO, RUNS, VERDICT
from nightrook.store.folders import BATCHES, LOOPS
from nightrook.store.list import NewestFirst
from nightrook.store.names import is_name
from nightrook.web.live.event_stream import EventStream
from nightrook.web.live.open_questions import OpenQuestions
from nightrook.web.replies import ApiError
from nightrook.web.shown_runs import ShownRun, ShownRuns

_PAUSE_S = 0.03  # between two looks at what has changed
_TICK_S = 1.0  # between two looks at whether processes are alive
_RUNNERS_S = 2.0  # for runners to say what is open, before the first viewer is answered
_LINGER_S = 10.0  # after the last viewer has left: it may only have reloaded the page


class LiveRuns:
    """Reads what grows, notices what comes and goes, and announces it in the event stream."""

    def __init__(self, runs: ShownRuns, events: EventStream) -> None:
        self._runs = runs
        self._events = events
        self._home = Path(os.path.abspath(runs.home))
        self._viewers = 0
        self._followed: dict[str, ShownRun] = {}
        self._task: asyncio.Task[None] | None = None
        self._watch: FolderWatch | PolledFolderWatch | None = None
        self._ready = asyncio.Event()
        self.questions = OpenQuestions(self._questions_changed)

    @property
    def followed(self) -> list[ShownRun]:
        """The runs that are alive."""
        return list(self._followed.values())

    @property
    def is_active(self) -> bool:
        """True if runs are followed, because a page is open."""
        return self._task is not None and self._ready.is_set()

    @asynccontextmanager
    async def viewer(self) -> AsyncIterator[None]:
        """Follow the runs while the block lasts, and a little longer."""
        self._viewers += 1
        if self._task is None:
            self._ready.clear()
            self._task = asyncio.get_running_loop().create_task(self._follow())
        try:
            await self._ready.wait()
            yield
        finally:
            self._viewers -= 1

    def ended(self, shown: ShownRun) -> None:
        """Follow a run no longer: it has its verdict."""
        shown.is_followed = False
        if self._followed.pop(shown.name, None) is not None:
            if self._watch is not None:
                self._watch.remove(str(shown.folder.path))
            self.questions.leave(shown.name)
            self._events.list_changed()

    async def close(self) -> None:
        """Follow nothing any more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _follow(self) -> None:
        watch = self._watch = FolderWatch.opened() or PolledFolderWatch()
        try:
            self._watch_lists(watch)
            await self._find_unfinished()
            await self.questions.heard(_RUNNERS_S)  # guards: runners-heard
            self._ready.set()
            await self._while_watched(watch)
        finally:
            self._ready.set()
            self._task = self._watch = None
            for shown in self.followed:
                shown.is_followed = False
            self._followed.clear()
            self.questions.close()
            watch.close()

    async def _while_watched(self, watch: FolderWatch | PolledFolderWatch) -> None:
        loop = asyncio.get_running_loop()
        alone_since: float | None = None
        tick = loop.time()
        while self._viewers or alone_since is None or loop.time() - alone_since < _LINGER_S:
            await _readable(watch, _TICK_S)
            for change in watch.read():
                await self._on_change(change)
            if loop.time() - tick >= _TICK_S:
                tick = loop.time()
                for shown in self.followed:
                    self._runs.check(shown)
            alone_since = None if self._viewers else alone_since or loop.time()
            await asyncio.sleep(_PAUSE_S)

    def _watch_lists(self, watch: FolderWatch | PolledFolderWatch) -> None:
        if not watch.add(str(self._home)):
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            watch.add(str(self._home))
        for parent in (RUNS, LOOPS.parent, BATCHES.parent):
            watch.add(str(self._home / parent))
        for kind in (LOOPS, BATCHES):
            for path in kind.paths(self._home):
                watch.add(str(path))

    async def _find_unfinished(self) -> None:
        def unfinished() -> list[str]:
            return [run.folder.name for run in NewestFirst(self._home, only_unfinished=True)]

        for name in await asyncio.to_thread(unfinished):
            await self._start(name)

    async def _start(self, name: str) -> None:
        """Follow a run, if it has no verdict yet."""
        try:
            shown = await self._runs.get(name)
        except (NightrookError, ApiError):
            return  # it is damaged or gone: the list says so
        if shown.is_complete or name in self._followed or self._watch is None:
            return
        self._followed[name] = shown
        shown.is_followed = True
        self._watch.add(str(shown.folder.path))
        shown.wake()
        self.questions.follow(shown.folder)
        self._events.note(shown)

    async def _on_change(self, change: Change) -> None:
        folder, name = os.path.split(change.folder)
        shown = self._followed.get(name) if folder == str(self._home / RUNS) else None
        if shown is not None:
            await self._run_changed(shown, change)
        elif change.folder == str(self._home / RUNS):
            await self._runs_changed(change)
        elif change.folder == str(self._home):
            await self._home_changed(change)
        elif folder != str(self._home / RUNS):
            self._other_list_changed(change)

    def _questions_changed(self) -> None:
        waiting = self.questions.waiting
        self._events.asked([{"run": one.run, "id": one.question.id} for one in waiting])

    async def _run_changed(self, shown: ShownRun, change: Change) -> None:
        if change.name == INFO:
            with suppress(NightrookError):
                info = await asyncio.to_thread(shown.folder.info)
                shown.info = info or shown.info
            self.questions.follow(shown.folder)
        everything = change.name == ""
        shown.wake(
            ended=everything or change.name == VERDICT,
            decided=everything or change.name == DECISIONS,
        )

    async def _runs_changed(self, change: Change) -> None:
        if change.name == "":
            await self._find_unfinished()
        elif not is_name(change.name):
            return
        elif change.is_gone:
            self._followed.pop(change.name, None)
            self.questions.leave(change.name)
            self._runs.drop(change.name)
            self._events.gone(change.name)
        else:
            await self._start(change.name)
        self._events.list_changed()

    async def _home_changed(self, change: Change) -> None:
        if self._watch is not None and change.name in (RUNS, LOOPS.parent, BATCHES.parent):
            self._watch_lists(self._watch)
            await self._find_unfinished()  # what came before the list was watched
            self._events.list_changed()

    def _other_list_changed(self, change: Change) -> None:
        if self._watch is not None and is_name(change.name) and not change.is_gone:
            self._watch.add(os.path.join(change.folder, change.name))  # if it is a folder
        self._events.list_changed()


async def _readable(watch: FolderWatch | PolledFolderWatch, timeout_s: float) -> None:
    """Wait until something has changed, or some time has passed."""
    if isinstance(watch, PolledFolderWatch):
        await asyncio.sleep(watch.pause_s)
        return
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()
    loop.add_reader(watch.fileno(), changed.set)
    try:
        async with asyncio.timeout(timeout_s):
            await changed.wait()
    except TimeoutError:
        pass
    finally:
        loop.remove_reader(watch.fileno())
