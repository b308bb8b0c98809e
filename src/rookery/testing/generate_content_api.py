"""A scripted Gemini API on 127.0.0.1: what a model says, as bytes. No key."""

from collections.abc import Iterator, Mapping

from rookery.testing.scripted_api import (
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
"""What the API calls a failure of each status, and a message it gives."""


class ScriptedGeminiApi(ScriptedApi):
    """A scripted `generateContent` and `streamGenerateContent`; see `ScriptedApi`.

    Token counts are `promptTokenCount` (cached ones included), `candidatesTokenCount`,
    `cachedContentTokenCount` and `thoughtsTokenCount`.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(script, _Gemini())


class _Gemini:
    """The dialect of the Gemini API: every piece of a stream is a whole response."""

    def get(self, path: str) -> Json | None:
        """Know no models and nothing else."""
        return {"models": []} if path.endswith("/models") else None

    def aside(self, request: Request) -> Json | None:
        """Count the tokens of a request."""
        counts = request.path.endswith(":countTokens")
        return {"totalTokens": tokens(request.body)} if counts else None

    def asks(self, path: str) -> bool:
        """Know both ways to ask any model."""
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def streams(self, request: Request) -> bool:
        """See how the message was asked for."""
        return request.path.endswith(":streamGenerateContent")

    def whole(self, reply: Reply, request: Request) -> Json:
        """Make a response."""
        parts = [*_thoughts([reply.thinking or ""]), *_words([reply.text or ""])]
        return _response(reply, request, [*parts, *_calls(reply)], last=True)

    def events(self, reply: Reply, request: Request) -> Iterator[Json]:
        """Make the responses that add up to one: thoughts, words, and the calls at the end."""
        for part in _thoughts(pieces(reply.thinking or "", reply.piece)):
            yield _response(reply, request, [part], last=False)
        for part in _words(pieces(reply.text or "", reply.piece)):
            yield _response(reply, request, [part], last=False)
        yield _response(reply, request, _calls(reply), last=True)

    def frame(self, event: Json) -> bytes:
        """Write data alone: these events have no names."""
        return server_sent(event)

    def end(self) -> bytes:
        """Say nothing: the last response has said why it is the last."""
        return b""

    def broken(self) -> Json:
        """Say that the server failed."""
        return self.error(Failure(500), Request("", {}))

    def error(self, failure: Failure, request: Request) -> Json:
        """Say what the API says of such a failure."""
        kind, words = KINDS.get(failure.status, KINDS[500])
        told = {"message": failure.words(words), "status": failure.kind or kind}
        return {"error": {"code": failure.status, **told}}

    def headers(self, number: int) -> Mapping[str, str]:
        """Say nothing more."""
        return {}


def _response(reply: Reply, request: Request, parts: list[Json], *, last: bool) -> Json:
    """A response with some parts of the answer; only the last one tells why the model stopped."""
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


def _words(texts: list[str]) -> list[Json]:
    return [{"text": text} for text in texts if text]


def _calls(reply: Reply) -> list[Json]:
    return [
        {"functionCall": {"name": name, "args": _arguments(input)}} for name, input in reply.tools
    ]


def _arguments(input: Mapping[str, object] | str) -> Json:
    """The input of a call, which is an object in this API: a plain text becomes one."""
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
