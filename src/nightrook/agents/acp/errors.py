"""Errors of the protocol as neutral ones, and the agent's own words in them."""

import re
from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.api_statuses import PASSING
from nightrook.agents.acp import shapes
from nightrook.model.events import Error, ErrorKind

AUTH_REQUIRED = -32000
"""The code of an error after which a person must log in."""

NOT_FOUND = -32601
"""The code of an error about a method that the agent does not have."""

_STATUS = re.compile(r"\b([45]\d\d)\b")
_STATUSES: Mapping[int, ErrorKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    413: "context",
    429: "quota",
    503: "overload",
    529: "overload",
}
_PATTERNS: tuple[tuple[str, ErrorKind], ...] = (
    (r"api key|authenticat|unauthori[sz]ed|log ?in|credential", "auth"),
    (r"quota|usage limit|out of credits|billing", "quota"),
    (r"rate limit|too many requests", "quota"),
    (r"overloaded", "overload"),
    (r"context (?:length|window)|too long", "context"),
    (r"network|connection|timed out|ECONN|fetch failed", "network"),
)
_WORDS = [(re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in _PATTERNS]
_GENERIC = frozenset({"", "internal error", "server error"})


class _Details(msgspec.Struct):
    details: str | None = None
    message: str | None = None


class _ApiError(msgspec.Struct):
    message: str | None = None


class _Body(msgspec.Struct):
    error: _ApiError | None = None


_details = msgspec.json.Decoder(_Details)
_body = msgspec.json.Decoder(_Body)
_string = msgspec.json.Decoder(str)
_error = msgspec.json.Decoder(shapes.RpcError)


def of_response(response: shapes.Response) -> shapes.RpcError | None:
    """The error of a response, whatever it consists of; None if it has none."""
    raw = bytes(response.error)
    if raw in (b"", b"null"):
        return None
    found = salvage.decode_part(raw, _error) if raw[:1] == b"{" else None
    return found or shapes.RpcError(message=salvage.decode_part(raw, _string))


def read(error: shapes.RpcError) -> Error:
    """The error of a response."""
    text = message_of(error)
    kind = "auth" if error.code == AUTH_REQUIRED else kind_of(text, error.code)
    return Error(kind=kind, message=text, retryable=kind in PASSING)


def of_text(text: str) -> Error:
    """Return the error that an agent reports as its answer."""
    kind = kind_of(text)
    return Error(kind=kind, message=text, retryable=kind in PASSING)


def message_of(error: shapes.RpcError) -> str:
    """The agent's words; the details, where the message says nothing."""
    text = error.message or ""
    if text[:1] == "{":  # the body of the provider's response (gemini 0.61.0)
        body = salvage.decode_part(text.encode(), _body)
        text = (body.error.message if body and body.error else None) or text
    if text.lower() in _GENERIC:
        text = _more(error.data) or text
    return text or ("an error without a word" if error.code is None else f"error {error.code}")


def _more(data: msgspec.Raw) -> str | None:
    raw = bytes(data)
    if raw[:1] == b'"':
        return salvage.decode_part(data, _string)
    details = salvage.decode_part(data, _details) if raw[:1] == b"{" else None
    return (details.details or details.message) if details else None


def kind_of(text: str, code: int | None = None) -> ErrorKind:
    """The kind of an error, by the provider's status or by its words."""
    status = _STATUS.search(text)
    for found in (code, int(status[1]) if status else None):
        if found is not None and found in _STATUSES:
            return _STATUSES[found]
    return next((kind for pattern, kind in _WORDS if pattern.search(text)), "internal")
