"""Gemini CLI's words for what went wrong, as neutral kinds of error."""

import re
from collections.abc import Mapping

import msgspec

from rookery.adapter import salvage
from rookery.agents.gemini import shapes
from rookery.model.events import Error, ErrorKind

REASONS: Mapping[str | None, str] = {
    "FatalTurnLimitedError": "max_turns",
    "FatalCancellationError": "interrupted",
}
"""Why a turn ended, where the type of the error tells it."""

SURRENDERS: Mapping[str | None, str] = {
    "Loop detected, stopping execution": "loop",
    "Maximum session turns exceeded": "max_turns",
}
"""With which words the program stops the model, and why; it then tells of a success.

The first was seen (0.61.0 loop), the second is in the source.
"""

_TYPES: Mapping[str | None, ErrorKind] = {
    "FatalAuthenticationError": "auth",
    "FatalConfigError": "config",
    "FatalInputError": "config",
}
_STATUSES: Mapping[int, ErrorKind] = {
    400: "config",
    401: "auth",
    403: "auth",
    404: "config",
    408: "network",
    413: "context",
    # Too many requests and a used-up quota are both RESOURCE_EXHAUSTED.
    429: "quota",
    503: "overload",
    504: "network",
}
_PASSING = frozenset({"internal", "network", "overload"})

# The answer of the API, as it came (0.61.0 api_400, api_401, api_500).
_API_ERROR = re.compile(r"\[API Error: (\{.*\})\]", re.DOTALL)
# What the API answers to a wrong key, with 400.
_WRONG_KEY = "API key not valid"


class _Told(msgspec.Struct):
    code: int | None = None
    message: str | None = None


class _Body(msgspec.Struct):
    error: _Told | None = None


_body_decoder = msgspec.json.Decoder(_Body)


def read(told: shapes.Complaint) -> Error:
    """Read the error of a turn that failed: the API's answer, or the program's own words."""
    words = told.message or told.type
    body = _API_ERROR.fullmatch(told.message or "")
    answer = (
        salvage.decode_part(body[1].encode("utf-8", "replace"), _body_decoder) if body else None
    )
    if answer is None or answer.error is None:
        return _error(_TYPES.get(told.type, "internal"), words)
    said = answer.error.message or words
    if said is not None and said.startswith(_WRONG_KEY):
        return _error("auth", said)
    return _error(_STATUSES.get(answer.error.code or 0, "internal"), said)


def _error(kind: ErrorKind, message: str | None) -> Error:
    return Error(kind=kind, message=message, retryable=kind in _PASSING)
