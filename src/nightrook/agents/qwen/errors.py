"""Maps Qwen Code's error messages to neutral kinds of error."""

import re

from nightrook.adapter.api_statuses import LIMIT_STATUSES, PASSING
from nightrook.model.events import Error, ErrorKind

_PAYMENT_REQUIRED = "402"
# A connection that failed or broke off (0.24.4 adds the cause: cut_reset).
_NO_ANSWER = re.compile(
    r"(?:Connection error\.|Request timed out\.|terminated)(?: \(cause: .+\))?", re.DOTALL
)

# Qwen Code appends the API's failure to the text of the model (0.15.10 api_401, cut_error) and
# writes it into the failed result (0.24.4 api_401). After a 429 it adds advice (0.24.4 api_429).
_API_ERROR = re.compile(
    r"\[API Error: (?:(\d{3}) )?(.+)\](?:\n(?:Please wait|Possible quota) [^\n]+)?\Z", re.DOTALL
)
_API_ERROR_START = "[API Error: "
# An exhausted quota has separate messages (0.24.4 api_quota).
_QUOTA = re.compile(
    r"Quota exhausted: |Qwen OAuth (?:quota exceeded:|free tier has been discontinued)"
)
# It refuses to start without a login (0.24.4).
_NO_LOGIN = "No auth type is selected."


def own_error(text: str | None) -> Error:
    """Read a failure of Qwen Code itself."""
    kind: ErrorKind = "auth" if (text or "").startswith(_NO_LOGIN) else "internal"
    return Error(kind=kind, message=text)


def api_error(text: str) -> Error | None:
    """Read the failure of the API at the end of a text; None if there is none."""
    if _QUOTA.match(text):
        return Error(kind="quota", message=text.partition("\n\n")[0], retryable=False)
    # What matches from a later beginning matches from the first one too.
    match = _API_ERROR.match(text, max(0, text.find(_API_ERROR_START)))
    if match is None:
        return None
    status, message = match.groups()
    kind = _kind(int(status) if status else None, message)
    return Error(
        kind=kind,
        message=message,
        retryable=kind in PASSING,
        needs_payment=True if status == _PAYMENT_REQUIRED else None,
    )


def _kind(status: int | None, message: str) -> ErrorKind:
    if status is not None:
        return LIMIT_STATUSES.get(status, "internal")
    return "network" if _NO_ANSWER.fullmatch(message) else "internal"
