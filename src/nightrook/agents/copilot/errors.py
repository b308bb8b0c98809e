"""Maps GitHub Copilot CLI's errors to neutral kinds of error."""

from collections.abc import Mapping

from nightrook.adapter.api_statuses import PASSING, STATUSES
from nightrook.agents.copilot import shapes
from nightrook.model.events import Error, ErrorKind

_TYPES: Mapping[str | None, ErrorKind] = {
    "authentication": "auth",
    "authorization": "auth",
    "policy": "policy",
    "quota": "quota",
    "rate_limit": "rate",
    "context_limit": "context",
}


def read(error: shapes.ErrorData) -> Error:
    """Read the error that ends a run."""
    kind = _TYPES.get(error.error_type) or STATUSES.get(error.status_code or 0, "internal")
    return Error(
        kind=kind,
        message=error.message,
        retryable=kind in PASSING,
        needs_payment=True if error.status_code == 402 else None,
    )
