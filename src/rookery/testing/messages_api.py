"""A scripted Anthropic Messages API on 127.0.0.1: what a model says, as bytes. No model, no key."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import TracebackType
from typing import Any, Literal, Self

Json = dict[str, Any]

KINDS: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request_error", "invalid request"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "not permitted"),
    404: ("not_found_error", "not found"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}
"""What the API calls a failure of each status, and a message it gives."""

_CHARACTERS_PER_TOKEN = 4
_SIGNATURE = "c2NyaXB0ZWQ="  # real ones are long and can only be checked by the API
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing drops what is unsent and resets


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A message of the model: thoughts, then words, then tool calls."""

    text: str | None = None
    tools: Sequence[tuple[str, Mapping[str, Any]]] = ()
    thinking: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """Token counts that replace those estimated from the sizes, by the API's own names."""

    stop_reason: str | None = None
    """`tool_use` if there are calls, else `end_turn`."""

    first_output_tokens: int = 1
    """The output tokens that the stream tells when the message begins."""

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


class ScriptedMessagesApi:
    """Serves a script at `url` while its block lasts, and keeps what was asked in `requests`.

    The script is a list, one answer a request, or a function from a request's body to its answer;
    what the function raises is raised again at the end of the block. A request beyond the list
    gets a 400 that says so.
    """

    def __init__(self, script: Script) -> None:
        self.requests: list[Json] = []
        """The bodies of all requests for a message, in order of arrival."""
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


def message(reply: Reply, *, number: int, request: Json) -> Json:
    """A reply as the API gives it whole; ids are made of the request's number."""
    blocks: list[Json] = []
    if reply.thinking is not None:
        blocks.append(
            {"type": "thinking", "thinking": reply.thinking, "signature": _SIGNATURE},
        )
    if reply.text is not None:
        blocks.append({"type": "text", "text": reply.text})
    for index, (name, input) in enumerate(reply.tools):
        id = f"toolu_{number:022d}{index:02d}"
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": dict(input)})
    return {
        "id": f"msg_{number:024d}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model"),
        "content": blocks,
        "stop_reason": reply.stop_reason or ("tool_use" if reply.tools else "end_turn"),
        "stop_sequence": None,
        "usage": _usage(reply, blocks, request),
    }


def events(reply: Reply, *, number: int, request: Json) -> Iterator[Json]:
    """A reply as the API streams it."""
    whole = message(reply, number=number, request=request)
    usage = whole["usage"]
    begun = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": reply.first_output_tokens},
    }
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(whole["content"]):
        empty, deltas = _pieces(block, reply.piece)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    counts = {name: count for name, count in usage.items() if name.endswith("_tokens")}
    yield {"type": "message_delta", "delta": stop, "usage": counts}
    yield {"type": "message_stop"}


def _pieces(block: Json, size: int) -> tuple[Json, list[Json]]:
    """A block as it begins, and the deltas that fill it."""
    kind = block["type"]
    if kind == "tool_use":
        parts = _cut(json.dumps(block["input"]), size)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", *parts)]
        return {**block, "input": {}}, deltas
    deltas = [{"type": f"{kind}_delta", kind: part} for part in _cut(block[kind], size)]
    if kind == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    return {**block, kind: ""}, deltas


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _usage(reply: Reply, blocks: list[Json], request: Json) -> Json:
    counts = {
        "input_tokens": _tokens(request),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": _tokens(blocks),
        **reply.usage,
    }
    written = counts["cache_creation_input_tokens"]
    split = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
    return {**counts, "cache_creation": split, "service_tier": "standard"}


def _tokens(value: Any) -> int:
    return max(1, len(json.dumps(value)) // _CHARACTERS_PER_TOKEN)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, api: ScriptedMessagesApi) -> None:
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
        self._send_head(200, "0", {})

    def do_GET(self) -> None:
        """Know no models and nothing else."""
        if self.path.partition("?")[0] == "/v1/models":
            self._send(200, {"data": [], "has_more": False, "first_id": None, "last_id": None})
        else:
            self._fail(Failure(404), "0")

    def do_POST(self) -> None:
        """Answer a request for a message, or for its size."""
        body = self._body()
        path = self.path.partition("?")[0]
        if body is None:
            self._fail(Failure(400, message="the body is no JSON object"), "0")
        elif path == "/v1/messages/count_tokens":
            self._send(200, {"input_tokens": _tokens(body)})
        elif path == "/v1/messages":
            self._answer(*self.server.api.answer(body), body)
        else:
            self._fail(Failure(404), "0")

    def _body(self) -> Json | None:
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _answer(self, number: int, answer: Answer, body: Json) -> None:
        id = f"{number:024d}"
        if isinstance(answer, Failure):
            self.server.api.wait(answer.delay)
            self._fail(answer, id)
            return
        cut = answer if isinstance(answer, Cut) else None
        reply = answer.reply if isinstance(answer, Cut) else answer
        self.server.api.wait(reply.delay)
        if body.get("stream") is True:
            self._stream(reply, number, body, cut)
        elif cut is not None:
            self._reset()
        else:
            whole = message(reply, number=number, request=body)
            self._send(200, whole, id=id, headers=reply.headers)

    def _stream(self, reply: Reply, number: int, body: Json, cut: Cut | None) -> None:
        kind = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}
        self._send_head(200, f"{number:024d}", {**kind, **reply.headers})
        for count, event in enumerate(events(reply, number=number, request=body)):
            if cut is not None and count >= cut.after_events:
                if cut.how == "reset":
                    self._reset()
                    return
                if cut.how == "error":
                    self._event(_error("overloaded_error", "Overloaded"))
                break
            self.server.api.wait(reply.pause)
            self._event(event)
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, event: Json) -> None:
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _fail(self, failure: Failure, id: str) -> None:
        kind, words = KINDS.get(failure.status, KINDS[500])
        error = _error(failure.kind or kind, words if failure.message is None else failure.message)
        told = {**error, "request_id": f"req_{id}"}
        self._send(failure.status, told, id=id, headers=failure.headers)

    def _send(
        self, status: int, value: Json, *, id: str = "0", headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(value).encode()
        kind = {"content-type": "application/json", "content-length": str(len(data))}
        self._send_head(status, id, {**kind, **(headers or {})})
        self.wfile.write(data)

    def _send_head(self, status: int, id: str, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)
        for name, value in {"request-id": f"req_{id}", "connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.rfile.close()
        self.wfile.close()
        self.connection.close()


def _error(kind: str, words: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": words}}
