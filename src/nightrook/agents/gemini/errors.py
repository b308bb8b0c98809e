"""Maps Gemini CLI's errors to neutral kinds of error."""

import re
from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.api_statuses import LIMIT_STATUSES, PASSING
from nightrook.agents.gemini import shapes
from nightrook.model.events import Error, ErrorKind

REASONS: Mapping[str | None, str] = {
    "FatalTurnLimitedError": "max_turns",
    "FatalCancellationError": "interrupted",
}
"""The reasons that the type of an error stands for."""

STOPS: Mapping[str | None, str] = {
    "Loop detected, stopping execution": "loop",
    "Maximum session turns exceeded": "max_turns",
}
"""The messages with which Gemini CLI stops the model, and the reasons; it then reports a success.

The first is from a recording (0.61.0 loop), the second from its source.
"""

_TYPES: Mapping[str | None, ErrorKind] = {
    "FatalAuthenticationError": "auth",
    "FatalConfigError": "config",
    "FatalInputError": "config",
}

# The unchanged response of the API (0.61.0 api_400, api_401, api_500).
_API_ERROR = re.compile(r"\[API Error: (\{.*\})\]", re.DOTALL)
# The API's message for a wrong key, with the status 400.
_WRONG_KEY = "API key not valid"


class _ApiError(msgspec.Struct):
    code: int | None = None
    message: str | None = None


class _Body(msgspec.Struct):
    error: _ApiError | None = None


_body_decoder = msgspec.json.Decoder(_Body)


def read(error: shapes.ErrorDetail) -> Error:
    """Read the error of a failed turn: the API's response, or a message of Gemini CLI."""
    text = error.message or error.type
    match = _API_ERROR.fullmatch(error.message or "")
    body = (
        salvage.decode_part(match[1].encode("utf-8", "replace"), _body_decoder) if match else None
    )
    if body is None or body.error is None:
        return _error(_TYPES.get(error.type, "internal"), text)
    message = body.error.message or text
    if message is not None and message.startswith(_WRONG_KEY):
        return _error("auth", message)
    return _error(LIMIT_STATUSES.get(body.error.code or 0, "internal"), message)


def _error(kind: ErrorKind, message: str | None) -> Error:
    return Error(kind=kind, message=message, retryable=kind in PASSING)
