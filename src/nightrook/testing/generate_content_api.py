"""A scripted Gemini API on 127.0.0.1, without a model or a key."""

from collections.abc import Iterator, Mapping

from nightrook.testing.scripted_api import (
    Failure,
    Json,
    Reply,
    Request,
    Script,
    ScriptedApi,
    pieces,
    server_sent,
    tokens,
)

KINDS: Mapping[int, tuple[str, str]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "The caller does not have permission."),
    404: ("NOT_FOUND", "The model is not found."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "The deadline expired before the operation could complete."),
}
"""The name of the status and the default message for each status code."""


class ScriptedGeminiApi(ScriptedApi):
    """A scripted `generateContent` and `streamGenerateContent`; see `ScriptedApi`.

    Token counts are `promptTokenCount` (cached ones included), `candidatesTokenCount`,
    `cachedContentTokenCount` and `thoughtsTokenCount`.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(script, _Gemini())


class _Gemini:
    """The format of the Gemini API: every event of a stream is a whole response."""

    def get(self, path: str) -> Json | None:
        """Return an empty list of models; None for any other path."""
        return {"models": []} if path.endswith("/models") else None

    def aside(self, request: Request) -> Json | None:
        """Count the tokens of a request."""
        counts = request.path.endswith(":countTokens")
        return {"totalTokens": tokens(request.body)} if counts else None

    def asks(self, path: str) -> bool:
        """True for the two methods that ask for a message, of any model."""
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def streams(self, request: Request) -> bool:
        """True if the method is the one that streams."""
        return request.path.endswith(":streamGenerateContent")

    def whole(self, reply: Reply, request: Request) -> Json:
        """Return a response."""
        parts = [*_thoughts([reply.thinking or ""]), *_texts([reply.text or ""])]
        return _response(reply, request, [*parts, *_calls(reply)], last=True)

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """Return the parts of a response: thoughts, text, and the calls at the end."""
        for part in _thoughts(pieces(reply.thinking or "", reply.piece)):
            yield _response(reply, request, [part], last=False)
        for part in _texts(pieces(reply.text or "", reply.piece)):
            yield _response(reply, request, [part], last=False)
        yield _response(reply, request, _calls(reply), last=True)

    def frame(self, event: Json) -> bytes:
        """Return the event without a name."""
        return server_sent(event)

    def end(self) -> bytes:
        """Return nothing: the last response includes the reason."""
        return b""

    def broken(self) -> Json:
        """Return a server error."""
        return self.error(Failure(500), Request("", {}))

    def error(self, failure: Failure, request: Request) -> Json:
        """Return the body of an error."""
        kind, message = KINDS.get(failure.status, KINDS[500])
        error = {"message": failure.text(message), "status": failure.kind or kind}
        return {"error": {"code": failure.status, **error}}

    def headers(self, number: int) -> Mapping[str, str]:
        """Return no additional headers."""
        return {}


def _response(reply: Reply, request: Request, parts: list[Json], *, last: bool) -> Json:
    """A response with some parts of the answer; only the last one includes the stop reason."""
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = reply.stop_reason or "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(reply, request),
        "modelVersion": request.path.rpartition("/")[2].partition(":")[0],
        "responseId": f"response-{request.number}",
    }


def _thoughts(texts: list[str]) -> list[Json]:
    return [{"text": text, "thought": True} for text in texts if text]


def _texts(texts: list[str]) -> list[Json]:
    return [{"text": text} for text in texts if text]


def _calls(reply: Reply) -> list[Json]:
    return [
        {"functionCall": {"name": name, "args": _arguments(input)}} for name, input in reply.tools
    ]


def _arguments(input: Mapping[str, object] | str) -> Json:
    """The input of a call, which is an object in this API: plain text is put into one."""
    return {"input": input} if isinstance(input, str) else dict(input)


def _usage(reply: Reply, request: Request) -> Json:
    counts = {
        "promptTokenCount": tokens(request.body),
        "candidatesTokenCount": tokens([reply.text, _calls(reply)]),
        "cachedContentTokenCount": 0,
        "thoughtsTokenCount": tokens(reply.thinking) if reply.thinking else 0,
        **reply.usage,
    }
    parts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    return {**counts, "totalTokenCount": sum(counts[part] for part in parts)}
