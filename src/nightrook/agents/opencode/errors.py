"""Maps the errors of OpenCode and Kilo CLI to neutral kinds of error."""

from collections.abc import Mapping

import msgspec

from nightrook.adapter.api_statuses import STATUSES
from nightrook.agents.opencode import shapes
from nightrook.model.events import Error, ErrorKind

_NAMES: Mapping[str | None, ErrorKind] = {
    "ProviderAuthError": "auth",
    "ContextOverflowError": "context",
    "MessageOutputLengthError": "context",
    "ContentFilterError": "policy",
}
"""The kinds of errors by name; the kind of an APIError depends on its status."""

_UNPAID = frozenset({"insufficient_quota", "billing_error"})
"""The codes of a 429 that only payment resolves."""

_QUOTAS = _UNPAID | {"usage_limit_reached"}
"""The codes of a 429 that trying again at once does not resolve."""


_REJECTED = "run ended with an auto-rejected permission"
"""The beginning of the error that ends a run after a call was not permitted."""


class _Cause(msgspec.Struct, gc=False):
    type: str | None = None
    code: str | None = None


class _Body(msgspec.Struct, gc=False):
    error: _Cause | None = None


_body_decoder = msgspec.json.Decoder(_Body)


def read(error: shapes.ErrorInfo | str) -> tuple[Error, str]:
    """Read an error and the reason of the failure; the next messages show whether it was fatal.

    Errors of the command line itself are only text.
    """
    if isinstance(error, str):
        denied = error.startswith(_REJECTED)
        failure = Error(kind="policy" if denied else "internal", message=error)
        return failure, "denied" if denied else "error"
    data = error.data
    failure = Error(
        kind=_kind(error.name, data),
        message=data.message or error.name,
        retryable=data.isRetryable,
        needs_payment=True if _is_unpaid(error.name, data) else None,
    )
    return failure, "interrupted" if error.name == "MessageAbortedError" else "api_error"


def _kind(name: str | None, data: shapes.ErrorData) -> ErrorKind:
    if name in _NAMES:
        return _NAMES[name]
    if name != "APIError":
        return "internal"
    if data.statusCode is None:
        return "network"  # the server did not answer
    if data.statusCode == 429 and not _QUOTAS.isdisjoint(_codes(data.responseBody)):
        return "quota"
    return STATUSES.get(data.statusCode, "internal")


def _is_unpaid(name: str | None, data: shapes.ErrorData) -> bool:
    if name != "APIError" or data.statusCode not in (402, 429):
        return False
    return data.statusCode == 402 or not _UNPAID.isdisjoint(_codes(data.responseBody))


def _codes(body: str | None) -> set[str | None]:
    """The codes in the body of the API's response."""
    try:
        cause = _body_decoder.decode(body or "{}").error
    except (ValueError, RecursionError):
        return set()
    return set() if cause is None else {cause.type, cause.code}
