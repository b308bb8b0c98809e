"""Takes decisions from other processes of the user, at a socket, while a run lasts."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

from nightrook.runs.asking.peers import Recorder, refusal
from nightrook.runs.asking.protocol import (
    LONGEST_REQUEST,
    Decided,
    DecideRequest,
    Listed,
    ListRequest,
    ProtocolError,
    Refused,
    Response,
    WatchRequest,
    dump,
    load_request,
    problem,
)
from nightrook.runs.asking.questions import Questions
from nightrook.runs.asking.sockets import listen, release

MOST_CLIENTS = 64
REQUEST_S = 10.0
"""The time that a viewer has to write its request."""

_READ_S = 30.0  # for a viewer to read what it is answered
_CLOSE_S = 1.0
_TOO_MANY = Refused(reason="too many viewers are connected to the run: close some")
_TOO_LATE = Refused(reason=f"there was no request within {REQUEST_S:.0f} seconds")
_TOO_LONG = Refused(reason=f"a request has at most {LONGEST_REQUEST} bytes")


class AnswerServer:
    """A socket at which other processes list, watch and decide the open questions of a run."""

    def __init__(self, questions: Questions, home: Path) -> None:
        self._questions = questions
        self._socket, self.path = listen(home)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def begin(self, recorder: Recorder | None) -> None:
        """Start to answer; a viewer that has connected already has waited.

        Without a recorder, the agent runs on another machine.
        """

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._serve(recorder, reader, writer))
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)

        self._server = await asyncio.start_unix_server(
            connected, sock=self._socket, limit=LONGEST_REQUEST
        )

    async def close(self) -> None:
        """Let watchers read the rest, close all connections, and remove the socket."""
        if self._server is not None:
            self._server.close()
        release(self._socket, self.path)
        self._questions.end()
        if self._clients:
            _, late = await asyncio.wait(self._clients, timeout=_CLOSE_S)
            for task in late:
                task.cancel()

    async def _serve(
        self, recorder: Recorder | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one request of one viewer."""
        try:
            connection: socket.socket = writer.get_extra_info("socket")
            if len(self._clients) > MOST_CLIENTS:  # guards: viewers-bounded
                await _say(writer, _TOO_MANY)
            # guards: peers-checked
            elif (reason := await asyncio.to_thread(refusal, connection, recorder)) is not None:
                await _say(writer, Refused(reason=reason))
            else:
                await self._answer(reader, writer)
        except (OSError, TimeoutError):
            pass  # the viewer is gone, or does not read
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        match await _request(reader):
            case None:
                return
            case WatchRequest():
                await self._watch(reader, writer)
            case ListRequest():
                await _say(writer, Listed(questions=self._questions.open))
            case DecideRequest() as request:
                await _say(writer, self._decide(request))
            case Refused() as refused:
                await _say(writer, refused)

    def _decide(self, request: DecideRequest) -> Response:
        asks = {question.id: question.ask for question in self._questions.open}
        ask = asks.get(request.id)
        if ask is None:
            return Decided(counts=False, question=self._questions.closed(request.id))
        if (reason := problem(ask, request.decision)) is not None:
            return Refused(reason=reason)
        self._questions.decide(request.id, request.decision)
        return Decided(counts=True, question=self._questions.closed(request.id))

    async def _watch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Write every change until the run is over or the viewer leaves."""
        with self._questions.watched() as watcher:
            leaving = asyncio.create_task(_end_of(reader))
            leaving.add_done_callback(lambda _: watcher.put_nowait(None))
            try:
                while (change := await watcher.get()) is not None:
                    await _say(writer, change)
            finally:
                leaving.cancel()


async def _request(
    reader: asyncio.StreamReader,
) -> ListRequest | WatchRequest | DecideRequest | Refused | None:
    """Read a viewer's request; None if it left before it sent one."""
    try:
        async with asyncio.timeout(REQUEST_S):  # guards: silent-viewer
            line = await reader.readuntil()
        return load_request(line)
    except asyncio.IncompleteReadError:
        return None
    except TimeoutError:
        return _TOO_LATE
    except asyncio.LimitOverrunError:
        return _TOO_LONG
    except ProtocolError as error:
        return Refused(reason=str(error))


async def _end_of(reader: asyncio.StreamReader) -> None:
    """Wait until a viewer has left; what it writes meanwhile is ignored."""
    with suppress(OSError):
        while await reader.read(LONGEST_REQUEST):
            pass


async def _say(writer: asyncio.StreamWriter, line: Response) -> None:
    async with asyncio.timeout(_READ_S):
        writer.write(dump(line))
        await writer.drain()
