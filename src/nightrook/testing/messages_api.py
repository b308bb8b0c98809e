"""A scripted Anthropic Messages API on 127.0.0.1, without a model or a key."""

import json
from collections.abc import Iterator, Mapping

from nightrook.testing.scripted_api import (
    Failure,
    Json,
    Reply,
    Request,
    Script,
    ScriptedApi,
    call_digits,
    pieces,
    server_sent,
    tokens,
)

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
"""The type of error and the default message for each status."""

_SIGNATURE = "c2NyaXB0ZWQ="  # real ones are long and can only be checked by the API


class ScriptedMessagesApi(ScriptedApi):
    """A scripted Messages API; see `ScriptedApi`."""

    def __init__(self, script: Script) -> None:
        super().__init__(script, _Messages())


class _Messages:
    """The format of the Messages API."""

    def get(self, path: str) -> Json | None:
        """Return nothing: there is no list of models."""
        none: Json = {"data": [], "has_more": False, "first_id": None, "last_id": None}
        return none if path == "/v1/models" else None

    def aside(self, request: Request) -> Json | None:
        """Count the tokens of a request."""
        counting = request.path == "/v1/messages/count_tokens"
        return {"input_tokens": tokens(request.body)} if counting else None

    def asks(self, path: str) -> bool:
        """True for the path of messages."""
        return path == "/v1/messages"

    def streams(self, request: Request) -> bool:
        """True if the request asks for a stream."""
        return request.body.get("stream") is True

    def whole(self, reply: Reply, request: Request) -> Json:
        """Return a message."""
        return message(reply, number=request.number, request=request.body)

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """Return the events of a message."""
        return events(reply, number=request.number, request=request.body)

    def frame(self, event: Json) -> bytes:
        """Return the event, named by its type."""
        return server_sent(event, event["type"])

    def end(self) -> bytes:
        """Return nothing: `message_stop` is the end."""
        return b""

    def broken(self) -> Json:
        """Return the error of an overloaded API."""
        return _error("overloaded_error", "Overloaded")

    def error(self, failure: Failure, request: Request) -> Json:
        """Return the body of an error."""
        kind, message = KINDS.get(failure.status, KINDS[500])
        body = _error(failure.kind or kind, failure.text(message))
        return {**body, "request_id": _request_id(request.number)}

    def headers(self, number: int) -> Mapping[str, str]:
        """Return the id of the request."""
        return {"request-id": _request_id(number)}


def message(reply: Reply, *, number: int, request: Json) -> Json:
    """A reply in one response; its ids contain the number of the request."""
    blocks: list[Json] = []
    if reply.thinking is not None:
        blocks.append(
            {"type": "thinking", "thinking": reply.thinking, "signature": _SIGNATURE},
        )
    if reply.text is not None:
        blocks.append({"type": "text", "text": reply.text})
    for index, (name, input) in enumerate(reply.tools):
        id = f"toolu_{call_digits(request, number, index)}"
        given = input if isinstance(input, str) else dict(input)
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": given})
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
    started = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": reply.first_output_tokens},
    }
    yield {"type": "message_start", "message": started}
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
    """A block at its start, and the deltas that complete it."""
    kind = block["type"]
    if kind == "tool_use":
        parts = pieces(json.dumps(block["input"]), size)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", *parts)]
        return {**block, "input": {}}, deltas
    deltas = [{"type": f"{kind}_delta", kind: part} for part in pieces(block[kind], size)]
    if kind == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    return {**block, kind: ""}, deltas


def _usage(reply: Reply, blocks: list[Json], request: Json) -> Json:
    counts = {
        "input_tokens": tokens(request),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens(blocks),
        **reply.usage,
    }
    written = counts["cache_creation_input_tokens"]
    split = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
    return {**counts, "cache_creation": split, "service_tier": "standard"}


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _request_id(number: int) -> str:
    return f"req_{number:024d}"
