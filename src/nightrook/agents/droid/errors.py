"""Maps Droid's errors to neutral kinds of error."""

import re

from nightrook.adapter.api_statuses import PASSING, STATUSES
from nightrook.model.events import Error

_STATUS = re.compile(r"(\d{3}) (.+)", re.DOTALL)  # the API's status and message
_NOT_LOGGED_IN = "Authentication failed."


def read(text: str | None) -> Error:
    """Read an error, which is only text."""
    message = (text or "").removeprefix("Error: ") or None
    if message is not None and message.startswith(_NOT_LOGGED_IN):
        return Error(kind="auth", message=message, retryable=False)
    match = _STATUS.fullmatch(message or "")
    if match is None:
        return Error(kind="internal", message=message)
    kind = STATUSES.get(int(match[1]), "internal")
    return Error(
        kind=kind,
        message=match[2],
        retryable=kind in PASSING,
        needs_payment=True if match[1] == "402" else None,
    )
