"""Qwen Code's words for what went wrong, as neutral kinds of error."""

import re
from collections.abc import Mapping

from rookery.model.events import Error, ErrorKind

_STATUSES: Mapping[int, ErrorKind] = {
    400: "config",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "config",
    408: "network",
    413: "context",
    422: "config",
    # Too many requests and a used-up quota are both a 429: the provider's limit stopped it.
    429: "quota",
    503: "overload",
    504: "network",
}
_PASSING = frozenset({"internal", "network", "overload"})
# A connection that was not made, or that broke (0.24.4 adds the cause: cut_reset).
_NO_ANSWER = re.compile(
    r"(?:Connection error\.|Request timed out\.|terminated)(?: \(cause: .+\))?", re.DOTALL
)

# The program writes the API's failure in the model's name, behind what the model had said
# (0.15.10 api_401, cut_error), and into the result that fails for it (0.24.4 api_401). After a 429
# it adds advice (0.24.4 api_429).
_API_ERROR = re.compile(
    r"\[API Error: (?:(\d{3}) )?(.+)\](?:\n(?:Please wait|Possible quota) [^\n]+)?\Z", re.DOTALL
)
# A quota that is used up is told in words of their own (0.24.4 api_quota).
_QUOTA = re.compile(
    r"Quota exhausted: |Qwen OAuth (?:quota exceeded:|free tier has been discontinued)"
)


def api_error(text: str) -> Error | None:
    """Read the failure of the API at the end of a text; None if there is none."""
    if _QUOTA.match(text):
        return Error(kind="quota", message=text.partition("\n\n")[0], retryable=False)
    found = _API_ERROR.search(text)
    if found is None:
        return None
    status, words = found.groups()
    kind = _kind(int(status) if status else None, words)
    return Error(kind=kind, message=words, retryable=kind in _PASSING)


def _kind(status: int | None, words: str) -> ErrorKind:
    if status is not None:
        return _STATUSES.get(status, "internal")
    return "network" if _NO_ANSWER.fullmatch(words) else "internal"
