"""The questions of a fleet's run: answered at a socket here, like those of a local run."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from nightrook.fleet.messages import AnswerOrder
from nightrook.model.errors import NightrookError
from nightrook.model.questions import Decision, OpenQuestion
from nightrook.process.liveness import start_ticks
from nightrook.runs.asking.protocol import Closed, Listed, Opened, ProtocolError, load_response
from nightrook.runs.asking.questions import Questions
from nightrook.runs.asking.server import AnswerServer
from nightrook.store.file_names import QUESTIONS
from nightrook.store.folders import NewLines
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo


class RemoteQuestions:
    """The open questions of one run, read from the log that its worker ships."""

    def __init__(
        self, answer: Callable[[AnswerOrder], Awaitable[None]], folder: RunFolder, attempt: int = 1
    ) -> None:
        self._answer = answer
        self._folder = folder
        self._attempt = attempt
        self._questions = Questions()
        self._server: AnswerServer | None = None
        self._lines = NewLines(folder.path, QUESTIONS, load_response)
        self._sending: set[asyncio.Future[None]] = set()

    async def open(self, *, asks: bool) -> None:
        """Take answers from other processes here, if the agent can ask."""
        if not asks:
            return
        with suppress(NightrookError):  # without a socket, it is denied after its time
            self._server = AnswerServer(self._questions, self._folder.path.parent.parent)
            await self._server.begin(None)
            if (info := self._folder.info()) is not None:
                self._folder.write_info(self.in_info(info))
            self.read()

    def in_info(self, info: RunInfo) -> RunInfo:
        """Add the socket at which to answer to `run.json`."""
        if self._server is None:
            return info
        pid = os.getpid()
        return replace(
            info, asks_at=str(self._server.path), runner_pid=pid, runner_ticks=start_ticks(pid)
        )

    def read(self) -> None:
        """Take the questions that have come, and close those that have been decided."""
        try:
            changes = self._lines.read()
        except (NightrookError, ProtocolError):
            return
        for change in changes:
            match change:
                case Listed(questions=questions):
                    for question in questions:
                        self._ask(question)
                case Opened(question=question):
                    self._ask(question)
                case Closed(question=closed):
                    self._questions.withdraw(closed.id)
                case _:
                    pass

    async def close(self) -> None:
        """Take no more answers."""
        if self._server is not None:
            await self._server.close()

    def _ask(self, question: OpenQuestion) -> None:
        known = {each.id for each in self._questions.open}
        if question.id not in known and not self._questions.is_full:
            self._questions.ask(question, partial(self._decided, question.id))

    def _decided(self, id: str, decision: Decision) -> None:
        order = AnswerOrder(attempt=self._attempt, question=id, decision=decision)
        sending = asyncio.ensure_future(self._answer(order))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
