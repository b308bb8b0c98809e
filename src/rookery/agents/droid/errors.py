"""Maps Droid's errors to neutral kinds of error."""

import re
from collections.abc import Mapping

from rookery.model.events import Error, ErrorKind

_STATUS = re.compile(r"(\d{3}) (.+)", re.DOTALL)  # the API's status and message
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
_PASSING = frozenset({"internal", "network", "overload", "rate"})
_NOT_LOGGED_IN = "Authentication failed."


def read(text: str | None) -> Error:
    """Read an error, which is only text."""
    message = (text or "").removeprefix("Error: ") or None
    if message is not None and message.startswith(_NOT_LOGGED_IN):
        return Error(kind="auth", message=message, retryable=False)
    match = _STATUS.fullmatch(message or "")
    if match is None:
        return Error(kind="internal", message=message)
    kind = _STATUSES.get(int(match[1]), "internal")
    return Error(
        kind=kind,
        message=match[2],
        retryable=kind in _PASSING,
        needs_payment=True if match[1] == "402" else None,
    )
