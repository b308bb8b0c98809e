"""The meaning of the HTTP status in an error, for agents that pass on the API's response."""

from collections.abc import Mapping

from nightrook.model.events import ErrorKind

STATUSES: Mapping[int, ErrorKind] = {
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
"""The kinds of error by status; any other status is an internal error."""

LIMIT_STATUSES: Mapping[int, ErrorKind] = {**STATUSES, 429: "quota"}
"""The same for agents that try again by themselves: a 429 that they report is a limit."""

PASSING = frozenset[ErrorKind]({"rate", "overload", "network", "internal"})
"""The kinds of error that may be gone when the same is tried again."""
