"""Maps GitHub Copilot CLI's errors to neutral kinds of error."""

from collections.abc import Mapping

from rookery.agents.copilot import shapes
from rookery.model.events import Error, ErrorKind

_TYPES: Mapping[str | None, ErrorKind] = {
    "authentication": "auth",
    "authorization": "auth",
    "policy": "policy",
    "quota": "quota",
    "rate_limit": "rate",
    "context_limit": "context",
}
_STATUSES: Mapping[int | None, ErrorKind] = {
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
_PASSING = frozenset({"rate", "overload", "network", "internal"})


def read(error: shapes.ErrorData) -> Error:
    """Read the error that ends a run."""
    kind = _TYPES.get(error.error_type) or _STATUSES.get(error.status_code, "internal")
    return Error(
        kind=kind,
        message=error.message,
        retryable=kind in _PASSING,
        needs_payment=True if error.status_code == 402 else None,
    )
