"""What the scripted model APIs share: answers, the server that gives them, and what it was asked.

How one API writes its messages and errors is its dialect, in a module of its own.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import TracebackType
from typing import Any, Literal, Protocol, Self

Json = dict[str, Any]

_CHARACTERS_PER_TOKEN = 4
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing drops what is unsent and resets


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A message of the model: thoughts, then words, then tool calls."""

    text: str | None = None
    tools: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    """Name and input of each call; a string is the input of a tool that takes plain text."""

    thinking: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """Token counts that replace those estimated from the sizes, by the API's own names."""

    stop_reason: str | None = None
    """Why the model stopped, in the API's own words; found by what it says if None."""

    first_output_tokens: int = 1
    """The output tokens that the stream tells when the message begins, where an API tells them."""

    piece: int = 24
    """How many characters come in one event."""

    delay: float = 0.0
    """Seconds before the first byte."""

    pause: float = 0.0
    """Seconds before each event."""

    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """An answer that is an error; kind and message default to what the API says."""

    status: int
    kind: str | None = None
    message: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0

    def words(self, usual: str) -> str:
        """Its message, or what the API usually says."""
        return usual if self.message is None else self.message


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A stream that breaks after some of its events.

    `reset` is a connection that dies, `close` an answer that ends early but in order, `error` an
    event that tells of a failure. An answer that is no stream is always reset.
    """

    after_events: int
    reply: Reply = Reply(text="This answer will never come to its end.")
    how: Literal["reset", "close", "error"] = "reset"


Answer = Reply | Failure | Cut
Script = Sequence[Answer] | Callable[[Json], Answer]


@dataclass(frozen=True)
class Request:
    """A request to the API; `number` counts those for a message, from 1."""

    path: str
    body: Json
    number: int = 0


def call_digits(request: Json, number: int, index: int) -> str:
    """What names a call: no other of its conversation has it, though another server began that."""
    said = request.get("messages") or request.get("input") or ()
    return f"{len(said):04d}{number:018d}{index:02d}"


class Dialect(Protocol):
    """How one API speaks."""

    def get(self, path: str) -> Json | None:
        """What is found at a path; None if nothing is."""

    def aside(self, request: Request) -> Json | None:
        """The answer to a request that is none of the script's business, as to count tokens."""

    def asks(self, path: str) -> bool:
        """Tell whether a POST to that path asks for a message."""

    def streams(self, request: Request) -> bool:
        """Tell whether the message shall come in pieces."""

    def whole(self, reply: Reply, request: Request) -> Json:
        """A reply in one piece."""

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """A reply in pieces."""

    def frame(self, event: Json) -> bytes:
        """The bytes of one piece."""

    def end(self) -> bytes:
        """What is written after the last piece of a whole reply."""

    def broken(self) -> Json:
        """The piece that tells of a failure in the middle of a reply."""

    def error(self, failure: Failure, request: Request) -> Json:
        """The body of a failure."""

    def headers(self, number: int) -> Mapping[str, str]:
        """What the head of every answer says."""


class ScriptedApi:
    """Serves a script at `url` while its block lasts, and keeps what was asked in `requests`.

    The script is a list, one answer a request, or a function from a request's body to its answer;
    what the function raises is raised again at the end of the block. A request beyond the list
    gets a 400 that says so.
    """

    def __init__(self, script: Script, dialect: Dialect) -> None:
        self.requests: list[Json] = []
        """The bodies of all requests for a message, in order of arrival."""
        self.dialect = dialect
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._error: Exception | None = None
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """What to give a client as its base URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def answer(self, body: Json) -> tuple[int, Answer]:
        """Number a request and find its answer."""
        with self._lock:
            self.requests.append(body)
            number = len(self.requests)
            try:
                if callable(self._script):
                    return number, self._script(body)
                if number <= len(self._script):
                    return number, self._script[number - 1]
                words = f"the script has no answer to request {number}"
            except Exception as error:
                self._error = self._error or error
                words = f"the script failed: {error!r}"
        return number, Failure(400, message=words)

    def wait(self, seconds: float) -> None:
        """Wait, but not longer than the block lasts."""
        if seconds > 0:
            self._closing.wait(seconds)


def pieces(text: str, size: int) -> list[str]:
    """Cut a text into pieces of a size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def tokens(value: Any) -> int:
    """A guess at how many tokens something has."""
    return max(1, len(json.dumps(value)) // _CHARACTERS_PER_TOKEN)


def server_sent(event: Json, name: str | None = None) -> bytes:
    """An event as a server sends it, with a name if the API gives it one."""
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(event)}\n\n".encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, api: ScriptedApi) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Bind without asking for the host's full name, which may wait for a name server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that went away is none of our errors."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        """Answer clients that ask whether anybody is there."""
        self._send_head(200, 0, {})

    def do_GET(self) -> None:
        """Give what an API has besides messages; nothing else is there."""
        path = self.path.partition("?")[0]
        found = self.server.api.dialect.get(path)
        if found is None:
            self._fail(Failure(404), Request(path, {}))
        else:
            self._send(200, found)

    def do_POST(self) -> None:
        """Answer a request for a message, or one of those beside it."""
        body, path = self._body(), self.path.partition("?")[0]
        api = self.server.api
        request = Request(path, body or {})
        if body is None:
            self._fail(Failure(400, message="the body is no JSON object"), request)
        elif (aside := api.dialect.aside(request)) is not None:
            self._send(200, aside)
        elif api.dialect.asks(path):
            number, answer = api.answer(body)
            self._answer(answer, Request(path, body, number))
        else:
            self._fail(Failure(404), request)

    def _body(self) -> Json | None:
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _answer(self, answer: Answer, request: Request) -> None:
        if isinstance(answer, Failure):
            self.server.api.wait(answer.delay)
            self._fail(answer, request)
            return
        cut = answer if isinstance(answer, Cut) else None
        reply = answer.reply if isinstance(answer, Cut) else answer
        dialect = self.server.api.dialect
        self.server.api.wait(reply.delay)
        if dialect.streams(request):
            self._stream(reply, request, cut)
        elif cut is not None:
            self._reset()
        else:
            whole = dialect.whole(reply, request)
            self._send(200, whole, number=request.number, headers=reply.headers)

    def _stream(self, reply: Reply, request: Request, cut: Cut | None) -> None:
        dialect = self.server.api.dialect
        kind = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}
        self._send_head(200, request.number, {**kind, **reply.headers})
        for count, event in enumerate(dialect.events(reply, request)):
            if cut is not None and count >= cut.after_events:
                if cut.how == "reset":
                    self._reset()
                    return
                if cut.how == "error":
                    self._chunk(dialect.frame(dialect.broken()))
                break
            self.server.api.wait(reply.pause)
            self._chunk(dialect.frame(event))
        else:
            self._chunk(dialect.end())
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        if data:  # an empty chunk would be the end
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _fail(self, failure: Failure, request: Request) -> None:
        told = self.server.api.dialect.error(failure, request)
        self._send(failure.status, told, number=request.number, headers=failure.headers)

    def _send(
        self, status: int, value: Json, *, number: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(value).encode()
        kind = {"content-type": "application/json", "content-length": str(len(data))}
        self._send_head(status, number, {**kind, **(headers or {})})
        self.wfile.write(data)

    def _send_head(self, status: int, number: int, headers: Mapping[str, str]) -> None:
        always = {**self.server.api.dialect.headers(number), "connection": "close"}
        self.send_response_only(status)
        for name, value in {**always, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.rfile.close()
        self.wfile.close()
        self.connection.close()
