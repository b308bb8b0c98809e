"""A scripted OpenAI chat completions API on 127.0.0.1, without a model or a key."""

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

KINDS: Mapping[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "invalid request"),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "unsupported_country_region_territory", "not permitted"),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    413: ("invalid_request_error", "context_length_exceeded", "The context is too long."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", None, "The engine is currently overloaded."),
}
"""The type and code of an error and its default message for each status."""


class ScriptedChatApi(ScriptedApi):
    """A scripted chat completions API; see `ScriptedApi`.

    Token counts are `prompt_tokens`, `completion_tokens`, `cached_tokens` and `reasoning_tokens`;
    thoughts come as `reasoning_content`, as servers of open models send them.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(script, _Chat())


class _Chat:
    """The format of the chat completions API."""

    def get(self, path: str) -> Json | None:
        """Return nothing: there is no list of models."""
        return {"object": "list", "data": []} if path.endswith("/models") else None

    def aside(self, request: Request) -> Json | None:
        """Return nothing: there are no other requests."""
        return None

    def asks(self, path: str) -> bool:
        """True for the path of completions, with any base URL."""
        return path.endswith("/chat/completions")

    def streams(self, request: Request) -> bool:
        """True if the request asks for a stream."""
        return request.body.get("stream") is True

    def whole(self, reply: Reply, request: Request) -> Json:
        """Return a completion."""
        message: Json = {"role": "assistant", "content": reply.text}
        if reply.thinking is not None:
            message["reasoning_content"] = reply.thinking
        if reply.tools:
            message["tool_calls"] = _calls(reply, request)
        choice = {"index": 0, "message": message, "finish_reason": _reason(reply)}
        head = _head(request, "chat.completion")
        return {**head, "choices": [choice], "usage": _usage(reply, request)}

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """Return the chunks of a completion."""
        head = _head(request, "chat.completion.chunk")
        for delta in _deltas(reply, request):
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(reply)}]}
        options = request.body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            yield {**head, "choices": [], "usage": _usage(reply, request)}

    def frame(self, event: Json) -> bytes:
        """Return the event without a name."""
        return server_sent(event)

    def end(self) -> bytes:
        """Return the end marker."""
        return b"data: [DONE]\n\n"

    def broken(self) -> Json:
        """Return a server error."""
        return self.error(Failure(500), Request("", {}))

    def error(self, failure: Failure, request: Request) -> Json:
        """Return the body of an error."""
        kind, code, message = KINDS.get(failure.status, KINDS[500])
        if failure.kind is not None:
            kind = code = failure.kind
        text = failure.text(message)
        return {"error": {"message": text, "type": kind, "param": None, "code": code}}

    def headers(self, number: int) -> Mapping[str, str]:
        """Return the id of the request."""
        return {"x-request-id": f"req_{number:024d}"}


def _head(request: Request, kind: str) -> Json:
    """The fields of every object; the id contains the number of the request."""
    return {
        "id": f"chatcmpl-{request.number:024d}",
        "object": kind,
        "created": 1_700_000_000,
        "model": request.body.get("model"),
    }


def _deltas(reply: Reply, request: Request) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(reply.thinking or "", reply.piece):
        yield {"reasoning_content": piece}
    for piece in pieces(reply.text or "", reply.piece):
        yield {"content": piece}
    for index, call in enumerate(_calls(reply, request)):
        whole = call["function"]
        started = {**call, "index": index, "function": {**whole, "arguments": ""}}
        yield {"tool_calls": [started]}
        for piece in pieces(whole["arguments"], reply.piece):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _calls(reply: Reply, request: Request) -> list[Json]:
    return [
        {
            "id": f"call_{call_digits(request.body, request.number, index)}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": input if isinstance(input, str) else json.dumps(dict(input)),
            },
        }
        for index, (name, input) in enumerate(reply.tools)
    ]


def _reason(reply: Reply) -> str:
    return reply.stop_reason or ("tool_calls" if reply.tools else "stop")


def _usage(reply: Reply, request: Request) -> Json:
    output = [reply.thinking, reply.text, _calls(reply, request)]
    counts = {
        "prompt_tokens": tokens(request.body),
        "completion_tokens": tokens(output),
        "cached_tokens": 0,
        "reasoning_tokens": tokens(reply.thinking) if reply.thinking else 0,
        **reply.usage,
    }
    return {
        "prompt_tokens": counts["prompt_tokens"],
        "completion_tokens": counts["completion_tokens"],
        "total_tokens": counts["prompt_tokens"] + counts["completion_tokens"],
        "prompt_tokens_details": {"cached_tokens": counts["cached_tokens"]},
        "completion_tokens_details": {"reasoning_tokens": counts["reasoning_tokens"]},
    }
