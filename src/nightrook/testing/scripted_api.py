"""The common part of the scripted model APIs: answers, the server, and the recorded requests.

The format of one API's messages and errors is its `Dialect`, each in a separate module.
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
    """A message of the model: thoughts, then text, then tool calls."""

    text: str | None = None
    tools: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    """Name and input of each call; a string is the input of a tool that accepts plain text."""

    thinking: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """Token counts that replace the estimated ones, by their names in the API."""

    stop_reason: str | None = None
    """The reason why the model stopped, as the API writes it; None chooses the usual one."""

    first_output_tokens: int = 1
    """The output tokens at the start of a streamed message, if the API reports them."""

    piece: int = 24
    """The number of characters in one event."""

    delay: float = 0.0
    """Seconds before the first byte."""

    pause: float = 0.0
    """Seconds before each event."""

    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """An error response; kind and message default to those of the API."""

    status: int
    kind: str | None = None
    message: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0

    def text(self, default: str) -> str:
        """The message, or the API's default one."""
        return default if self.message is None else self.message


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A stream that breaks off after some of its events.

    `reset` resets the connection, `close` ends the response early but cleanly, and `error` sends
    an error event. A response that isn't streamed is always reset.
    """

    after_events: int
    reply: Reply = Reply(text="This answer will never come to its end.")
    how: Literal["reset", "close", "error"] = "reset"


Answer = Reply | Failure | Cut
Script = Sequence[Answer] | Callable[[Json], Answer]


@dataclass(frozen=True)
class Request:
    """A request to the API; `number` counts the requests for a message, from 1."""

    path: str
    body: Json
    number: int = 0


def call_digits(request: Json, number: int, index: int) -> str:
    """Digits for the id of a call, unique in its conversation even if another server started it."""
    messages = request.get("messages") or request.get("input") or ()
    return f"{len(messages):04d}{number:018d}{index:02d}"


class Dialect(Protocol):
    """The format of one API."""

    def get(self, path: str) -> Json | None:
        """The response to a GET of a path; None if it does not exist."""

    def aside(self, request: Request) -> Json | None:
        """The response to a request that isn't part of the script, such as counting tokens."""

    def asks(self, path: str) -> bool:
        """True if a POST to that path asks for a message."""

    def streams(self, request: Request) -> bool:
        """True if the message is streamed."""

    def whole(self, reply: Reply, request: Request) -> Json:
        """A reply in one response."""

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """A reply as a stream of events."""

    def frame(self, event: Json) -> bytes:
        """The bytes of one event."""

    def end(self) -> bytes:
        """The bytes after the last event of a complete reply."""

    def broken(self) -> Json:
        """The event that reports a failure in the middle of a reply."""

    def error(self, failure: Failure, request: Request) -> Json:
        """The body of a failure."""

    def headers(self, number: int) -> Mapping[str, str]:
        """The headers of every response."""


class ScriptedApi:
    """Serves a script at `url` until its `with` block ends, and records `requests`.

    The script is a list with one answer per request, or a function from the body of a request to
    its answer; what the function raises is raised again at the end of the block. A request beyond
    the list gets a 400.
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
        """The base URL for clients."""
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
        """Return the number of a request and its answer."""
        with self._lock:
            self.requests.append(body)
            number = len(self.requests)
            try:
                if callable(self._script):
                    return number, self._script(body)
                if number <= len(self._script):
                    return number, self._script[number - 1]
                message = f"the script has no answer to request {number}"
            except Exception as error:
                self._error = self._error or error
                message = f"the script failed: {error!r}"
        return number, Failure(400, message=message)

    def wait(self, seconds: float) -> None:
        """Wait, but not after the end of the block."""
        if seconds > 0:
            self._closing.wait(seconds)


def pieces(text: str, size: int) -> list[str]:
    """Cut a text into pieces of a size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def tokens(value: Any) -> int:
    """An estimate of the number of tokens in a value."""
    return max(1, len(json.dumps(value)) // _CHARACTERS_PER_TOKEN)


def server_sent(event: Json, name: str | None = None) -> bytes:
    """A server-sent event, with a name if the API uses names."""
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(event)}\n\n".encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, api: ScriptedApi) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Bind without looking up the host's full name, which may wait for a name server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of clients that disconnected."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        """Answer clients that check whether the server is up."""
        self._send_head(200, 0, {})

    def do_GET(self) -> None:
        """Send the API's response at a path that is not for messages."""
        path = self.path.partition("?")[0]
        response = self.server.api.dialect.get(path)
        if response is None:
            self._fail(Failure(404), Request(path, {}))
        else:
            self._send(200, response)

    def do_POST(self) -> None:
        """Answer a request for a message, or one that isn't part of the script."""
        body, path = self._body(), self.path.partition("?")[0]
        api = self.server.api
        request = Request(path, body or {})
        if body is None:
            self._fail(Failure(400, message="the body isn't a JSON object"), request)
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
        body = self.server.api.dialect.error(failure, request)
        self._send(failure.status, body, number=request.number, headers=failure.headers)

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
