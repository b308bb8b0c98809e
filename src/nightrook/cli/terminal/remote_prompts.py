"""Asks the open questions of another process's run at this terminal."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from nightrook.cli.terminal.permission_prompt import TerminalAsker
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.model.errors import NightrookError
from nightrook.model.questions import ClosedQuestion, Decision, OpenQuestion
from nightrook.runs.asking import client
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo

_Send = Callable[[Decision], Awaitable[ClosedQuestion | None]]
_AGAIN_S = 0.2  # before the questions are watched again


class _RemoteQuestion:
    """A question of another process's run, as the prompt settles it."""

    def __init__(self, closed: Callable[[], ClosedQuestion | None], send: _Send) -> None:
        self._closed = closed
        self._send = send

    def closing(self, _: int | None) -> ClosedQuestion | None:
        return self._closed()

    async def settle(self, _: int | None, decision: Decision) -> ClosedQuestion | None:
        if decision.by != "person":  # the time is up, or the terminal is gone: its runner decides
            return None
        return await self._send(decision)


class RemotePrompts:
    """Shows the open questions of a run one after another, and sends the user's decisions.

    A question that is answered elsewhere meanwhile leaves the screen, with a line that says so.
    """

    def __init__(self, path: str, folder: RunFolder, info: RunInfo, screen: SharedScreen) -> None:
        self._path = path
        self._folder = folder
        self._label = info.label or "agent"
        self._cwd = info.cwd
        self._screen = screen
        self._one = asyncio.Lock()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._closed: dict[str, ClosedQuestion] = {}
        self._settling: set[str] = set()

    async def follow(self, report: Callable[[str], None]) -> None:
        """Ask until the run is over; report why its questions don't reach this terminal."""
        try:
            while client.is_asking(self._folder):
                with suppress(client.NotAskingError):
                    await self._watch()
                await asyncio.sleep(_AGAIN_S)
        except NightrookError as error:
            report(str(error))
        finally:
            await self._stop()

    async def ask_open(self) -> int:
        """Ask the open questions, and return how many were shown."""
        async with client.watching(self._folder) as changes:
            first = await anext(changes, client.Listed())
            questions = first.questions if isinstance(first, client.Listed) else ()
            following = asyncio.create_task(self._take_all(changes))
            try:
                self._start(questions)
                await asyncio.gather(*self._asking.values(), return_exceptions=True)
            finally:
                following.cancel()
                await self._stop()
        return len(questions)

    async def _watch(self) -> None:
        async with client.watching(self._folder) as changes:
            await self._take_all(changes, opens=True)

    async def _take_all(self, changes: client.ChangeStream, *, opens: bool = False) -> None:
        async for change in changes:
            match change:
                case client.Listed(questions=questions) if opens:
                    self._start(questions)
                case client.Opened(question=question) if opens:
                    self._start((question,))
                case client.Closed(question=closed):
                    self._close(closed)

    def _start(self, questions: tuple[OpenQuestion, ...]) -> None:
        for question in questions:
            if question.id not in self._asking and question.id not in self._closed:
                self._asking[question.id] = asyncio.create_task(self._ask(question))

    def _close(self, closed: ClosedQuestion) -> None:
        self._closed[closed.id] = closed
        if closed.id in self._asking and closed.id not in self._settling:
            self._asking.pop(closed.id).cancel()

    async def _ask(self, question: OpenQuestion) -> None:
        """Ask the user, and send the decision."""
        async with self._one:
            limit_s = None if question.until is None else max(question.until - time.time(), 0.0)
            asker = TerminalAsker(
                self._path,
                self._label,
                self._screen,
                cwd=self._cwd,
                limit_s=limit_s,
                settlement=_RemoteQuestion(
                    partial(self._closed.get, question.id), partial(self._settle, question.id)
                ),
            )
            await asker(question.ask)

    async def _settle(self, id: str, decision: Decision) -> ClosedQuestion | None:
        """Send a decision; None if it counts, else how the question was closed before."""
        self._settling.add(id)
        try:
            counts, closed = await client.decide(self._folder, id, decision)
        except client.NotAskingError:
            counts, closed = False, None
        return None if counts else closed or ClosedQuestion(id=id, closed_at=time.time())

    async def _stop(self) -> None:
        tasks = [*self._asking.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
