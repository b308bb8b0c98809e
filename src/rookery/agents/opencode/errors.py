"""Maps OpenCode's errors to neutral kinds of error."""

from collections.abc import Mapping

import msgspec

from rookery.agents.opencode import shapes
from rookery.model.events import Error, ErrorKind

_NAMES: Mapping[str | None, ErrorKind] = {
    "ProviderAuthError": "auth",
    "ContextOverflowError": "context",
    "MessageOutputLengthError": "context",
    "ContentFilterError": "policy",
}
"""The kinds of errors by name; the kind of an APIError depends on its status."""

_STATUSES: Mapping[int, ErrorKind] = {
    400: "config",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "config",
    408: "network",
    413: "context",
    422: "config",
    429: "rate",
    503: "overload",
    504: "network",
    529: "overload",
}
_QUOTAS = frozenset({"insufficient_quota", "billing_error", "usage_limit_reached"})
"""The codes of a 429 that waiting does not resolve."""


class _Cause(msgspec.Struct, gc=False):
    type: str | None = None
    code: str | None = None


class _Body(msgspec.Struct, gc=False):
    error: _Cause | None = None


_body_decoder = msgspec.json.Decoder(_Body)


def read(error: shapes.ErrorInfo) -> Error:
    """Read an error; only the following messages show whether it was fatal."""
    data = error.data
    return Error(
        kind=_kind(error.name, data),
        message=data.message or error.name,
        retryable=data.isRetryable,
    )


def _kind(name: str | None, data: shapes.ErrorData) -> ErrorKind:
    if name in _NAMES:
        return _NAMES[name]
    if name != "APIError":
        return "internal"
    if data.statusCode is None:
        return "network"  # the server did not answer
    if data.statusCode == 429 and _quota_used_up(data.responseBody):
        return "quota"
    return _STATUSES.get(data.statusCode, "internal")


def _quota_used_up(body: str | None) -> bool:
    try:
        cause = _body_decoder.decode(body or "{}").error
    except (ValueError, RecursionError):
        return False
    return cause is not None and not _QUOTAS.isdisjoint({cause.type, cause.code})
