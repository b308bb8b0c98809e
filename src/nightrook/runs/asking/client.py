"""Client of viewers: the open questions of runs of other processes, and decisions on them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from nightrook.model.errors import NightrookError
from nightrook.model.questions import ClosedQuestion, Decision, OpenQuestion
from nightrook.process.liveness import is_same_process
from nightrook.runs.asking.peers import is_runner
from nightrook.runs.asking.protocol import (
    LONGEST_RESPONSE,
    Changes,
    Closed,
    Decided,
    DecideRequest,
    Listed,
    ListRequest,
    Opened,
    Refused,
    Request,
    Responses,
    WatchRequest,
    dump,
    load_response,
)
from nightrook.runs.asking.sockets import connect
from nightrook.store.run_folder import RunFolder

__all__ = [
    "ChangeStream",
    "Changes",
    "Closed",
    "Listed",
    "NotAskingError",
    "Opened",
    "Outcome",
    "RefusedError",
    "decide",
    "is_asking",
    "open_questions",
    "watching",
]

ChangeStream = AsyncIterator[Changes]
"""The changes that `watching` yields."""

_CONNECT_S = 5.0
_ANSWER_S = 15.0
_CHUNK = 256 * 1024


class NotAskingError(NightrookError):
    """A run that cannot be answered: it is over, or its agent cannot ask."""


class RefusedError(NightrookError):
    """The runner refused a request; the message says why."""


class Outcome(NamedTuple):
    """The result of a decision."""

    counts: bool
    """True if it is the first one on its question."""

    question: ClosedQuestion | None
    """Closed question; None if the run never asked it, or too long ago."""


def is_asking(folder: RunFolder) -> bool:
    """True if the runner of a run lives and takes decisions."""
    address = _address(folder)
    return address is not None and address.path.is_socket()


async def open_questions(folder: RunFolder) -> tuple[OpenQuestion, ...]:
    """Return the questions of a run that are still open."""
    match await _ask(folder, ListRequest()):
        case Listed(questions=questions):
            return questions
        case _:
            raise RefusedError("the runner answered something else: update rook")


async def decide(folder: RunFolder, id: str, decision: Decision) -> Outcome:
    """Decide on an open question, by its own id; only the first decision counts.

    `decision.through` says what it was made with, such as `web`. A RefusedError says why it is
    not a decision on this question.
    """
    match await _ask(folder, DecideRequest(id=id, decision=decision)):
        case Decided(counts=counts, question=question):
            return Outcome(counts, question)
        case _:
            raise RefusedError("the runner answered something else: update rook")


@asynccontextmanager
async def watching(folder: RunFolder) -> AsyncIterator[ChangeStream]:
    """Yield the changes while the block lasts: `Listed` first, then `Opened` and `Closed`.

    It ends when the run is over, or if its reader was too slow: then watch again.
    """
    async with _connected(folder, WatchRequest()) as connection:
        yield _changes(connection)


class _Connection:
    """A connection to a runner: one request, and the lines of its answer.

    What a runner wrote before it closed the connection is read even if the request was not.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._unread = bytearray()
        self._searched = 0

    async def send(self, request: Request) -> None:
        with suppress(OSError):  # the answer, if there is one, says why
            await asyncio.get_running_loop().sock_sendall(self._socket, dump(request))

    async def line(self) -> Responses | None:
        """Read one line; None at the end."""
        while (end := self._unread.find(b"\n", self._searched)) < 0:
            self._searched = len(self._unread)
            if self._searched > LONGEST_RESPONSE:
                raise RefusedError("the runner's answer is too long")
            data = await self._read()
            if not data:
                return None
            self._unread += data
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._searched = 0
        return load_response(line)

    async def _read(self) -> bytes:
        try:
            return await asyncio.get_running_loop().sock_recv(self._socket, _CHUNK)
        except OSError:
            return b""


async def _changes(connection: _Connection) -> ChangeStream:
    while (line := await connection.line()) is not None:
        match line:
            case Listed() | Opened() | Closed():
                yield line
            case Refused(reason=reason):
                raise RefusedError(reason)


async def _ask(folder: RunFolder, request: Request) -> Responses:
    async with _connected(folder, request) as connection:
        try:
            async with asyncio.timeout(_ANSWER_S):
                line = await connection.line()
        except TimeoutError:
            raise _hangs(folder) from None
    if line is None:
        raise _over(folder)
    if isinstance(line, Refused):
        raise RefusedError(line.reason)
    return line


@asynccontextmanager
async def _connected(folder: RunFolder, request: Request) -> AsyncIterator[_Connection]:
    address = _address(folder)
    if address is None:
        raise _over(folder)
    try:
        opened = await asyncio.to_thread(connect, address.path, _CONNECT_S)
    except TimeoutError:
        raise _hangs(folder) from None
    except OSError:
        raise _over(folder) from None
    with opened:
        # guards: own-socket-only
        if not await asyncio.to_thread(is_runner, opened, address.runner, str(folder.path)):
            raise RefusedError("the socket of this run is not that of its runner")
        opened.setblocking(False)
        connection = _Connection(opened)
        await connection.send(request)
        yield connection


class _Address(NamedTuple):
    path: Path
    runner: int


def _address(folder: RunFolder) -> _Address | None:
    """The socket of a run whose runner lives; None if there is none."""
    info = folder.info()
    if info is None or info.asks_at is None or info.runner_pid is None:
        return None
    if not is_same_process(info.runner_pid, info.runner_ticks):
        return None
    return _Address(Path(info.asks_at), info.runner_pid)


def _over(folder: RunFolder) -> NotAskingError:
    return NotAskingError(f"run {folder.name!r} does not ask: it is over, or its agent cannot ask")


def _hangs(folder: RunFolder) -> NotAskingError:
    return NotAskingError(f"the runner of {folder.name!r} does not answer: it is busy, or stopped")
