"""A scripted OpenAI Responses API on 127.0.0.1, without a model or a key."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

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

KINDS: Mapping[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", "unsupported_parameter", "Unsupported parameter"),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: made-up."),
    403: ("invalid_request_error", "unsupported_country", "Country not supported"),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached. Please try again in 1s."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", "server_is_overloaded", "Our servers are currently overloaded."),
}
"""The type and code of an error and its default message for each status."""

_ENCRYPTED = "c2NyaXB0ZWQ="  # real ones are long and can only be read by the API


class ScriptedResponsesApi(ScriptedApi):
    """A scripted Responses API; see `ScriptedApi`. Its base URL ends in `/v1`."""

    def __init__(self, script: Script) -> None:
        super().__init__(script, _Responses())

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"{super().url}/v1"


class _Responses:
    """The format of the Responses API."""

    def get(self, path: str) -> Json | None:
        """Return nothing: there is no list of models."""
        return {"object": "list", "data": []} if path == "/v1/models" else None

    def aside(self, request: Request) -> Json | None:
        """Return nothing: there are no other requests."""
        return None

    def asks(self, path: str) -> bool:
        """True for the path of responses."""
        return path == "/v1/responses"

    def streams(self, request: Request) -> bool:
        """True if the request asks for a stream."""
        return request.body.get("stream") is True

    def whole(self, reply: Reply, request: Request) -> Json:
        """Return a response."""
        return response(reply, number=request.number, request=request.body)

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """Return the events of a response."""
        return events(reply, number=request.number, request=request.body)

    def frame(self, event: Json) -> bytes:
        """Return the event, named by its type."""
        return server_sent(event, event["type"])

    def end(self) -> bytes:
        """Return nothing: `response.completed` is the end."""
        return b""

    def broken(self) -> Json:
        """Return the event of a failed response."""
        error = {"code": "server_error", "message": "The server had an error."}
        return {"type": "response.failed", "response": {"status": "failed", "error": error}}

    def error(self, failure: Failure, request: Request) -> Json:
        """Return the body of an error."""
        kind, code, message = KINDS.get(failure.status, KINDS[500])
        text = failure.text(message)
        code = code if failure.kind is None else failure.kind
        return {"error": {"message": text, "type": kind, "code": code, "param": None}}

    def headers(self, number: int) -> Mapping[str, str]:
        """Return the id of the request."""
        return {"x-request-id": f"req_{number:024d}"}


def response(reply: Reply, *, number: int, request: Json) -> Json:
    """A reply in one response; its ids contain the number of the request."""
    items: list[Json] = []
    if reply.thinking is not None:
        items.append(
            {
                "type": "reasoning",
                "id": f"rs_{number:024d}",
                "summary": [{"type": "summary_text", "text": reply.thinking}],
                "encrypted_content": _ENCRYPTED,
            }
        )
    if reply.text is not None:
        items.append(
            {
                "type": "message",
                "id": f"msg_{number:024d}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
            }
        )
    for index, (name, input) in enumerate(reply.tools):
        items.append(_call(name, input, call_digits(request, number, index)))
    return {
        "id": f"resp_{number:024d}",
        "object": "response",
        "status": "completed" if reply.stop_reason is None else "incomplete",
        "incomplete_details": None if reply.stop_reason is None else {"reason": reply.stop_reason},
        "model": request.get("model"),
        "output": items,
        "usage": _usage(reply, items, request),
    }


def events(reply: Reply, *, number: int, request: Json) -> Iterator[Json]:
    """A reply as the API streams it."""
    whole = response(reply, number=number, request=request)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [{"type": "response.created", "response": started}]
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        empty, deltas = _pieces(item, reply.piece)
        events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        events += ({**delta, **place} for delta in deltas)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": f"response.{whole['status']}", "response": whole})
    return ({**event, "sequence_number": count} for count, event in enumerate(events))


def _call(name: str, input: Mapping[str, Any] | str, id: str) -> Json:
    """A call of a function, of a tool that accepts plain text, or of the API's own search.

    A name with a dot is that of a tool in a namespace.
    """
    if name == "web_search" and not isinstance(input, str):
        action = {"type": "search", **input}
        return {
            "type": "web_search_call",
            "id": f"ws_{id}",
            "status": "completed",
            "action": action,
        }
    space, _, tool = name.rpartition(".")
    call = {"call_id": f"call_{id}", "name": tool, "status": "completed"}
    if space:
        call["namespace"] = space
    if isinstance(input, str):
        return {"type": "custom_tool_call", "id": f"ctc_{id}", **call, "input": input}
    arguments = json.dumps(input)
    return {"type": "function_call", "id": f"fc_{id}", **call, "arguments": arguments}


_DELTAS: Mapping[str, tuple[str, str]] = {
    "message": ("output_text", "content"),
    "reasoning": ("reasoning_summary_text", "summary"),
    "function_call": ("function_call_arguments", "arguments"),
    "custom_tool_call": ("custom_tool_call_input", "input"),
}
"""The types of deltas for each item, and the field that they complete."""


def _pieces(item: Json, size: int) -> tuple[Json, list[Json]]:
    """An item at its start, and the deltas that complete it."""
    if item["type"] not in _DELTAS:  # a search includes its query only at the end
        return {"type": item["type"], "id": item["id"], "status": "in_progress"}, []
    name, field = _DELTAS[item["type"]]
    filled = item[field]
    in_parts = isinstance(filled, list)
    text = filled[0]["text"] if in_parts else filled
    place = {f"{field}_index": 0} if in_parts else {}
    deltas = [
        {"type": f"response.{name}.delta", **place, "delta": part} for part in pieces(text, size)
    ]
    return {**item, field: [] if in_parts else ""}, deltas


def _usage(reply: Reply, items: list[Json], request: Json) -> Json:
    counts = {
        "input_tokens": tokens(request),
        "cached_tokens": 0,
        "output_tokens": tokens(items),
        "reasoning_tokens": 0,
        **reply.usage,
    }
    return {
        "input_tokens": counts["input_tokens"],
        "input_tokens_details": {"cached_tokens": counts["cached_tokens"]},
        "output_tokens": counts["output_tokens"],
        "output_tokens_details": {"reasoning_tokens": counts["reasoning_tokens"]},
        "total_tokens": counts["input_tokens"] + counts["output_tokens"],
    }
