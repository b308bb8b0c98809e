"""Reads errors, which it maps to neutral kinds, and the state of the provider's limits."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Literal

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.api_statuses import PASSING
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.claude import shapes
from nightrook.agents.claude.memory import Memory
from nightrook.agents.claude.tools import text_of
from nightrook.model.events import Error, ErrorKind, Event, LimitReported

KINDS: Mapping[str, ErrorKind] = {
    "authentication_failed": "auth",
    "authentication_error": "auth",
    "permission_error": "auth",
    "oauth_org_not_allowed": "auth",
    "account_on_hold": "auth",
    "verification_required": "auth",
    "cloud_credential_error": "auth",
    "billing_error": "quota",
    "usage_limit_reached": "quota",
    "rate_limit": "rate",
    "rate_limit_error": "rate",
    "overloaded": "overload",
    "overloaded_error": "overload",
    "connection_failed": "network",
    "timeout_error": "network",
    "max_output_tokens": "context",
    "request_too_large": "context",
    "model_not_found": "config",
    "not_found_error": "config",
    "invalid_request": "config",
    "invalid_request_error": "config",
    "server_error": "internal",
    "api_error": "internal",
}
"""The kind for each value of `error`, `api_error` and `api_error_type`; `unknown` has none."""

# The provider's limit in words: 1.0 has no field for it, 2.0.76 calls it a rate limit (s50_limit).
_LIMIT = re.compile(
    r"Claude AI usage limit reached(?:\|(?P<reset>\d{9,10})\b)?"
    r"|You.ve hit your [^\n]{0,40}limit\b|You.re out of extra usage\b"
    r"|(?:Session|Weekly|Opus|Opus weekly|Usage) limit (?:reached|resets)\b"
    r"|Limit reached – |Spending cap reached\b"
)
_NO_CREDIT = re.compile(r"Credit balance is too low\b")
# 1.0 and 2.0 name these failures only in their words (s50b_429, s50c_credit).
_WORDS: tuple[tuple[re.Pattern[str], ErrorKind], ...] = (
    (_LIMIT, "quota"),
    (re.compile(r"API Error: 429\b|API Error: Rate limit reached"), "rate"),
    (re.compile(r"API Error: 529\b"), "overload"),
    (_NO_CREDIT, "quota"),
)

_LIMIT_STATUS: Mapping[str, Literal["allowed", "warning", "rejected"]] = {
    "allowed": "allowed",
    "allowed_warning": "warning",
    "rejected": "rejected",
}
_MILLISECONDS = 1e11  # a larger time, after the year 5138, is in milliseconds
_windows_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_window_decoder = msgspec.json.Decoder(shapes.LimitWindow)

_VAGUE = frozenset({"invalid_request", "invalid_request_error", "server_error", "api_error"})


def api_error(message: shapes.Assistant, *, limited: bool) -> list[Event]:
    """Read an API failure, which is reported as a message of the model.

    `limited` means that the provider's limit was reached: before 2.1.325 the message itself
    calls that a rate limit (2.1.197 s15_rate_limit_event).
    """
    inner = message.message or shapes.Message()
    text = text_of(inner.content)
    names = (message.api_error, message.error, message.api_error_type)
    kind = kind_of(*names)
    if inner.stop_reason == "refusal":
        kind = "policy"
    elif kind == "rate" and limited:
        kind = "quota"
    elif kind == "config" and text is not None and text.startswith("Prompt is too long"):
        kind = "context"  # no field says so (2.1.197 and 2.1.325 s11e_fail_prompt_too_long)
    elif kind in (None, "rate"):
        kind = _kind_in_words(text) or kind
    return _errors(kind, text, unpaid="billing_error" in names)


def error_in_words(text: str | None) -> list[Event]:
    """Read a failure that only a text reports, as in 1.0; no events if the text is unknown."""
    kind = _kind_in_words(text)
    return [] if kind is None else _errors(kind, text)


def kind_of(*names: str | None) -> ErrorKind | None:
    """The kind for the most specific of these names; None if all of them are unknown."""
    known = sorted((name for name in names if name and name in KINDS), key=_VAGUE.__contains__)
    return KINDS[known[0]] if known else None


def _kind_in_words(text: str | None) -> ErrorKind | None:
    return next((kind for words, kind in _WORDS if text and words.match(text)), None)


def _errors(kind: ErrorKind | None, text: str | None, *, unpaid: bool = False) -> list[Event]:
    """The error, and the limit before it if the words say when it resets."""
    events: list[Event] = []
    limit = _LIMIT.match(text or "") if kind == "quota" else None
    if limit is not None and limit["reset"]:
        events.append(LimitReported(status="rejected", resets_at=float(limit["reset"])))
    retryable = None if kind is None else kind in PASSING
    unpaid = unpaid or _NO_CREDIT.match(text or "") is not None
    events.append(
        Error(
            kind=kind or "internal",
            message=text,
            retryable=retryable,
            needs_payment=True if unpaid else None,
        )
    )
    return events


def auth_status(memory: Memory, message: shapes.AuthStatus, line: bytes) -> Sequence[Event]:
    """Read the status of a login."""
    return (Error(kind="auth", message=message.error, retryable=False),) if message.error else ()


def rate_limit_event(
    memory: Memory, message: shapes.RateLimitEvent, line: bytes
) -> Sequence[Event]:
    """Read the state of the subscription's limits, starting with the window that decides."""
    info = message.rate_limit_info
    if info is None:
        return ()
    memory.limited = info.status == "rejected"
    windows = _windows(info)
    deciding = windows.pop(info.rateLimitType or "", shapes.LimitWindow())
    used = deciding.utilization if info.utilization is None else info.utilization
    events = [
        LimitReported(
            window=info.rateLimitType,
            status=_LIMIT_STATUS.get(info.status or ""),
            used=_finite(used),
            resets_at=_moment(info.resetsAt),
            overage=info.overageStatus,
        )
    ]
    for name, window in windows.items():
        events.append(
            LimitReported(
                window=name,
                status=_LIMIT_STATUS.get(window.status or ""),
                used=_finite(window.utilization),
                resets_at=_moment(window.resetsAt),
            )
        )
    return events


def _windows(info: shapes.RateLimitInfo) -> dict[str, shapes.LimitWindow]:
    """All windows that can be read."""
    unified = info.unifiedWindows
    parts = None if unified is NOTHING else salvage.decode_part(unified, _windows_decoder)
    windows = {
        name: salvage.decode_part(raw, _window_decoder) for name, raw in (parts or {}).items()
    }
    return {name: window for name, window in windows.items() if window is not None}


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _moment(seconds: float | None) -> float | None:
    if seconds is None or not isfinite(seconds) or seconds < 0:
        return None
    return seconds / 1000 if seconds > _MILLISECONDS else seconds
