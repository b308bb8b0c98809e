"""Answers an agent's requests for permission while it runs, and records the decisions."""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

import msgspec

from nightrook.adapter.agent import ControlChannel
from nightrook.model.errors import RunFolderError
from nightrook.model.events import PermissionDenied, PermissionRequested, ToolFinished, ToolProgress
from nightrook.model.questions import Ask, Decision, OpenQuestion
from nightrook.model.records import Record
from nightrook.model.text import one_line
from nightrook.runs.asking.questions import Questions
from nightrook.store import decisions
from nightrook.store.run_folder import RunFolder
from nightrook.story.tail import read_at

OnPermission = Callable[[Ask], Awaitable[Decision]]
"""Decides on a request; it is cancelled when another process decides, or the agent gave up."""

_LONGEST_TITLE = 200


class HeldInput:
    """The agent's stdin, which closes when we close it or our process ends.

    It is a pair of sockets: what the agent starts could open a pipe again, through
    `/proc/<agent>/fd/0`, and write the answer to the agent's request itself.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        ours.shutdown(socket.SHUT_RD)  # nobody writes to an agent's stdin to be read here
        ours.setblocking(False)
        self.reading, self._writing = theirs.detach(), ours.detach()  # guards: stdin-not-reopened
        """The first is the agent's end; it is ours until `begin`."""
        self._waiting = bytearray()
        self._log: int | None = None
        self._ending = False

    def begin(self, folder: RunFolder) -> None:
        """Close our copy of the agent's end, and record all input from now on."""
        self._let_go()
        self._log = folder.open_log("stdin")

    def write(self, data: bytes) -> None:
        """Write without blocking; if the agent has closed its end, the data is dropped."""
        if self._ending or self._log is None:
            return
        with suppress(OSError):  # a full disk must not keep an answer from the agent
            os.write(self._log, data)
        self._waiting += data
        self._push()

    def end(self) -> None:
        """Close the agent's stdin as soon as everything is written."""
        self._ending = True
        self._push()

    def close(self) -> None:
        """Close the agent's stdin now."""
        self._ending = True
        self._waiting.clear()
        self._let_go()
        self._push()

    def _let_go(self) -> None:
        if self.reading >= 0:
            os.close(self.reading)
            self.reading = -1

    def _push(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            try:
                del self._waiting[: os.write(self._writing, self._waiting)]
            except BlockingIOError:
                loop.add_writer(self._writing, self._push)
                return
            except (BrokenPipeError, ConnectionResetError):
                self._waiting.clear()
                self._ending = True
        if self._writing < 0:
            return
        loop.remove_writer(self._writing)
        if self._ending:
            os.close(self._writing)
            self._writing = -1
            if self._log is not None:
                os.close(self._log)
                self._log = None


_Scope = tuple[str | None, str | None, tuple[str, ...]]


def _scope(ask: Ask) -> _Scope:
    """Return the scope of `always`: the same rule, in the same folder, under the same notes."""
    return ask.always, ask.cwd, ask.notes  # guards: always-same-folder


class _Open(NamedTuple):
    """A request that is being decided."""

    ask: Ask
    call: str
    task: asyncio.Task[None]


class Dialogue:
    """Keeps the standard input of an agent open, and answers each request in a task.

    `answer` decides here; any process of the user can decide on the open `questions`. If only
    they can, a request waits for them as long as `is_attended` says so.
    """

    def __init__(
        self,
        control: ControlChannel,
        answer: OnPermission | None,
        timeout_s: float | None,
        *,
        questions: Questions | None = None,
        is_attended: Callable[[], bool] = lambda: False,
    ) -> None:
        self._control = control
        self._answer = answer
        self._timeout_s = timeout_s
        self._questions = questions or Questions()
        self._is_attended = is_attended
        self._input = HeldInput()
        self._folder: RunFolder | None = None
        self._open: dict[str, _Open] = {}  # by the id of the question
        self._tasks: set[asyncio.Task[None]] = set()
        self._always: set[_Scope] = set()  # rules that the agent does not remember itself

    @property
    def reading(self) -> int:
        """The descriptor that the agent reads from; it is ours until `begin`."""
        return self._input.reading

    @property
    def waits(self) -> bool:
        """True if a request is waiting for its decision."""
        return bool(self._open)

    def begin(self, folder: RunFolder, first: bytes) -> None:
        """Send the first message to an agent that has been started."""
        self._folder = folder
        self._input.begin(folder)
        self._input.write(first)

    def hear(self, data: bytes) -> None:
        """Send the answers to the next bytes of the agent's output."""
        if words := self._control.on_output(data):
            self._input.write(words)

    def take(self, record: Record, answered: Callable[[PermissionRequested], None]) -> None:
        """Handle a record: pass on a request, and withdraw one that has been settled."""
        if words := self._control.on_event(record.event, lambda: self._line(record)):
            self._input.write(words)
        match record.event:
            case PermissionRequested() as event:
                self._ask(event, record, answered)
            case ToolFinished(id=id) | ToolProgress(id=id):
                self._withdraw(id)
            case PermissionDenied(tool_id=str(id)):
                self._withdraw(id)

    def cancel(self) -> None:
        """Withdraw all requests without an answer, also if the user stops the run instead."""
        for id, one in [*self._open.items()]:
            del self._open[id]
            one.task.cancel()
            self._questions.withdraw(id)

    def interrupt(self) -> None:
        """Withdraw all requests, and interrupt the agent."""
        self.cancel()
        if words := self._control.interrupt():
            self._input.write(words)
        else:  # it has not started to work: closing its input ends it
            self._input.end()

    def end(self) -> None:
        """Close the agent's input when everything is written: nothing more will come."""
        self._input.end()

    async def close(self) -> None:
        """Withdraw all requests, wait for their tasks to end, and close the agent's input."""
        self.cancel()
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            self._input.close()

    def _ask(
        self,
        event: PermissionRequested,
        record: Record,
        answered: Callable[[PermissionRequested], None],
    ) -> None:
        line = self._line(record)
        read = self._control.read(line)
        if read is None:
            return
        ask = msgspec.structs.replace(read, seq=record.seq)
        begun = time.monotonic()

        def decide(decision: Decision) -> None:
            waited_s = time.monotonic() - begun
            self._keep(ask, decision, tool_id=event.tool_id, waited_s=waited_s)
            self._input.write(self._control.answer(line, decision))
            answered(event)
            if decision.allow and decision.always:
                self._settle_others(ask)

        if _scope(ask) in self._always or self._control.permits(ask):
            decide(Decision(allow=True, by="rule"))
        # guards: questions-bounded, unanswerable-denied
        elif ask.about == "other" or self._questions.is_full or not self._has_answerer():
            decide(Decision(allow=False, by="nobody"))  # guards: nobody-denies
        else:
            self._open_question(self._question(ask, event, record), decide)

    def _has_answerer(self) -> bool:
        return self._answer is not None or self._is_attended()

    def _question(self, ask: Ask, event: PermissionRequested, record: Record) -> OpenQuestion:
        now = time.time()
        return OpenQuestion(
            id=str(record.seq),  # guards: question-id
            ask=ask,
            tool_id=event.tool_id,
            opened_at=now,
            until=None if self._timeout_s is None else now + self._timeout_s,
        )

    def _open_question(self, question: OpenQuestion, decide: Callable[[Decision], None]) -> None:
        def decided(decision: Decision) -> None:
            self._close(question.id)
            decide(decision)

        task = asyncio.create_task(self._asked(question))
        self._open[question.id] = _Open(question.ask, question.tool_id or question.ask.id, task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._questions.ask(question, decided)

    def _close(self, id: str) -> None:
        """Stop asking here, unless it is decided here."""
        one = self._open.pop(id, None)
        if one is not None and one.task is not asyncio.current_task():
            one.task.cancel()

    def _line(self, record: Record) -> bytes:
        assert self._folder is not None
        return read_at(self._folder.path, "stdout", record.offset, record.length)

    async def _asked(self, question: OpenQuestion) -> None:
        decision = Decision(allow=False, by="nobody")  # guards: failing-function-denies
        try:
            async with asyncio.timeout(self._timeout_s):  # guards: late-answer-denied
                if self._answer is None:
                    await asyncio.Event().wait()  # for another process, which cancels this
                else:
                    decision = await self._answer(question.ask)
        except TimeoutError:
            decision = Decision(allow=False, by="timeout")
        except asyncio.CancelledError:
            return
        except Exception as error:  # the caller's code failed: deny, and report it
            context = {"message": "on_permission failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
        self._questions.decide(question.id, decision)

    def _keep(self, ask: Ask, decision: Decision, *, tool_id: str | None, waited_s: float) -> None:
        assert self._folder is not None
        always = ask.always if decision.allow and decision.always else None
        if always is not None and not ask.remembers:
            self._always.add(_scope(ask))
        decided = decisions.Decided(
            at=time.time(),
            id=ask.id,
            tool_id=tool_id,
            about=ask.about,
            name=ask.name,
            title=one_line(ask.title, _LONGEST_TITLE) if ask.title else None,
            decision=decision,
            rule=always,
            waited_s=round(waited_s, 3),
        )
        with suppress(OSError, RunFolderError):  # a full disk must not keep it from the agent
            decisions.keep(self._folder, decided)

    def _settle_others(self, decided: Ask) -> None:
        """Allow other open requests that this decision has just allowed too."""
        for id, one in list(self._open.items()):
            if one.ask.id != decided.id and _scope(one.ask) == _scope(decided):
                self._questions.decide(id, Decision(allow=True, by="rule"))

    def _withdraw(self, call: str) -> None:
        for id, one in list(self._open.items()):
            if one.call == call:
                self._close(id)
                self._questions.withdraw(id)
