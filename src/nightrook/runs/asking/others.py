"""Answers from other processes: who can give them, waiting for them, and their decisions."""

from pathlib import Path

from nightrook.model.errors import NightrookError
from nightrook.model.questions import ClosedQuestion, Decision
from nightrook.runs.asking.attendance import is_attended
from nightrook.runs.asking.peers import Recorder
from nightrook.runs.asking.questions import Questions
from nightrook.runs.asking.server import AnswerServer


class OtherProcesses:
    """Lets other processes of the user answer the questions of a run's agent."""

    def __init__(self) -> None:
        self.questions = Questions()
        self.waited_for = False
        """True if a question that can't be answered here waits for them, although none attends."""
        self.problem: str | None = None
        """Reason why they cannot answer; None if they can."""
        self._home = Path()
        self._server: AnswerServer | None = None

    @property
    def address(self) -> str | None:
        """The path of the socket at which they answer."""
        return str(self._server.path) if self._server else None

    def listen(self, home: Path) -> None:
        """Open the socket; a NightrookError says why that failed, if only they could answer."""
        self._home = home
        try:
            self._server = AnswerServer(self.questions, home)
        except NightrookError as error:
            if self.waited_for:
                raise
            self.problem = str(error)

    async def begin(self, recorder: Recorder) -> None:
        """Start to take their answers: the agent's tree, which is below the recorder, is known."""
        if self._server is not None:
            await self._server.begin(recorder)

    async def close(self) -> None:
        """Close the socket, and remove it."""
        if self._server is not None:
            await self._server.close()

    def are_there(self) -> bool:
        """True if a question that can't be answered here waits for them."""
        return self._server is not None and (self.waited_for or is_attended(self._home))

    def closing(self, seq: int | None) -> ClosedQuestion | None:
        """Return how a question was closed, by the number of its record; None if it is open."""
        return self.questions.closed(str(seq))

    async def settle(self, seq: int | None, decision: Decision) -> ClosedQuestion | None:
        """Decide on a question; None if that counts, else how another process closed it."""
        return None if self.questions.decide(str(seq), decision) else self.closing(seq)
