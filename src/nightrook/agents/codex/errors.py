"""Maps Codex's error messages to neutral kinds of error; Codex writes no error codes."""

import re
from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.api_statuses import PASSING
from nightrook.model.events import Error, ErrorKind, Retrying

_RETRY = re.compile(
    r"Reconnecting\.\.\. (?:(\d{1,9})/(\d{1,9})|waiting for network)(?: \((.*)\))?", re.DOTALL
)
_STATUS = re.compile(r"(?:unexpected status|last status:) (\d{3})\b")

# How messages of 0.166.0 begin; those marked * are from its source, not from a recording.
_PATTERNS: tuple[tuple[str, ErrorKind], ...] = (
    (r"You.ve hit your usage limit", "quota"),
    (r"Quota exceeded", "quota"),
    (r"rate limit exceeded", "quota"),
    (r"To use Codex with your ChatGPT plan, upgrade", "quota"),  # *
    (r"Missing environment variable", "auth"),  # *
    (r"We.re currently experiencing high demand", "overload"),
    (r"Selected model is at capacity", "overload"),  # *
    (r"(?:Invalid prompt: )?[Yy]our prompt was flagged", "policy"),
    (r"(?:stream disconnected.*: )?Incomplete response returned, reason: content_filter", "policy"),
    (r"Incomplete response returned, reason: max_output_tokens", "context"),
    (r"Codex ran out of room in the model's context window", "context"),  # *
    (r"Connection failed", "network"),
    (r"stream disconnected before completion", "network"),
    (r"request timed out", "network"),  # *
)
_KINDS = [(re.compile(pattern), kind) for pattern, kind in _PATTERNS]

_STATUSES: Mapping[int, ErrorKind] = {
    401: "auth",
    403: "auth",
    413: "context",
    # A used-up quota and too many requests are both a 429: the provider's limit stopped it.
    429: "quota",
    503: "overload",
}
_CODES: Mapping[str, ErrorKind] = {
    "insufficient_quota": "quota",
    "usage_limit_reached": "quota",
    "rate_limit_exceeded": "quota",
    "invalid_api_key": "auth",
    "authentication_error": "auth",
    "context_length_exceeded": "context",
    "invalid_prompt": "policy",
    "content_policy_violation": "policy",
    "server_is_overloaded": "overload",
    "invalid_request_error": "config",
    "server_error": "internal",
}
"""The kinds for codes and types in the body of an API error, which Codex passes on unchanged."""

# What Codex makes of the code `insufficient_quota` (0.166.0 response_failed_quota).
_NO_CREDIT = "Quota exceeded. Check your plan and billing details."


class _ApiError(msgspec.Struct):
    message: str | None = None
    type: str | None = None
    code: str | None = None


class _Body(msgspec.Struct):
    error: _ApiError | None = None


_body_decoder = msgspec.json.Decoder(_Body)


def retry(message: str) -> Retrying | None:
    """Read the notice of a retry; None if the message isn't one."""
    match = _RETRY.fullmatch(message)
    if match is None:
        return None
    attempt, most, reason = match.groups()
    status = _STATUS.search(reason or "")
    return Retrying(
        attempt=int(attempt) if attempt else None,
        max_attempts=int(most) if most else None,
        status=int(status[1]) if status else None,
        reason=reason,
    )


def error(message: str) -> Error:
    """Read an error message: a sentence, or the body of the API's response."""
    if message.startswith("{"):
        body = salvage.decode_part(message.encode("utf-8", "replace"), _body_decoder)
        if body is not None and body.error is not None and body.error.message:
            cause = body.error
            codes = (cause.code, cause.type)
            kinds = (_CODES.get(code or "") for code in codes)
            return _error(
                next(filter(None, kinds), "internal"),
                cause.message or message,
                unpaid="insufficient_quota" in codes,
            )
    return _error(_kind(message), message, unpaid=message == _NO_CREDIT)


def _kind(message: str) -> ErrorKind:
    for pattern, kind in _KINDS:
        if pattern.match(message):
            return kind
    status = _STATUS.search(message)
    if status is None:
        return "internal"
    number = int(status[1])
    return _STATUSES.get(number, "config" if 400 <= number < 500 else "internal")


def _error(kind: ErrorKind, message: str, *, unpaid: bool) -> Error:
    return Error(
        kind=kind,
        message=message,
        retryable=kind in PASSING,
        needs_payment=True if unpaid else None,
    )
