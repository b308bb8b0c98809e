"""The questions that wait for a person, heard from the runners themselves."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from nightrook.model.errors import NightrookError
from nightrook.model.questions import OpenQuestion
from nightrook.runs.asking.client import Closed, Listed, Opened, is_asking, open_questions, watching
from nightrook.store.run_folder import RunFolder

_AGAIN_S = 1.0  # after a connection that ended, although the run is alive


class Waiting(NamedTuple):
    """An open question and its run."""

    run: str
    question: OpenQuestion


class OpenQuestions:
    """Listens to the runners of the runs that are followed; `on_change` hears of every change."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._open: dict[str, dict[str, OpenQuestion]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._unheard: set[str] = set()
        self._heard = asyncio.Event()

    @property
    def waiting(self) -> list[Waiting]:
        """Return all open questions, the oldest first."""
        found = [
            Waiting(run, question)
            for run, questions in self._open.items()
            for question in questions.values()
        ]
        return sorted(found, key=lambda each: each.question.opened_at)

    def follow(self, folder: RunFolder) -> None:
        """Listen to the runner of a run until it ends."""
        if folder.name not in self._tasks:
            task = asyncio.get_running_loop().create_task(self._listen(folder))
            self._tasks[folder.name] = task
            self._unheard.add(folder.name)
            task.add_done_callback(lambda _: self._tasks.pop(folder.name, None))

    async def heard(self, timeout_s: float) -> None:
        """Wait until every runner has said what is open, but not too long: one may hang.

        Until then, what is open looks as if it had been answered.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._unheard:
                    self._heard.clear()
                    await self._heard.wait()

    def leave(self, run: str) -> None:
        """Listen to a run no longer."""
        task = self._tasks.get(run)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """Listen to no run any more."""
        for task in self._tasks.values():
            task.cancel()

    async def _listen(self, folder: RunFolder) -> None:
        try:
            while await asyncio.to_thread(is_asking, folder):
                with suppress(NightrookError):
                    await self._hear(folder)
                await asyncio.sleep(_AGAIN_S)
        except NightrookError:
            return  # the run was removed
        finally:
            self._note_heard(folder.name)
            if self._open.pop(folder.name, None):
                self._on_change()

    def _note_heard(self, run: str) -> None:
        self._unheard.discard(run)
        self._heard.set()

    async def _hear(self, folder: RunFolder) -> None:
        known = self._open.setdefault(folder.name, {})
        async with watching(folder) as changes:
            async for change in changes:
                match change:
                    case Listed(questions=questions):
                        known.clear()
                        known.update({question.id: question for question in questions})
                    case Opened(question=question):
                        known[question.id] = question
                    case Closed(question=closed):
                        known.pop(closed.id, None)
                self._on_change()
                self._note_heard(folder.name)


async def ask_runners(folders: list[RunFolder]) -> list[Waiting]:
    """Ask each runner once which questions are open, the oldest first."""

    async def of(folder: RunFolder) -> list[Waiting]:
        with suppress(NightrookError):
            if await asyncio.to_thread(is_asking, folder):
                return [Waiting(folder.name, each) for each in await open_questions(folder)]
        return []

    found = await asyncio.gather(*map(of, folders))
    return sorted((one for some in found for one in some), key=lambda each: each.question.opened_at)
