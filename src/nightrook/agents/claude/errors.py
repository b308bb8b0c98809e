"""Maps Claude Code's errors to neutral kinds of error."""

import re
from collections.abc import Mapping

from nightrook.adapter.api_statuses import PASSING
from nightrook.agents.claude import shapes
from nightrook.agents.claude.tools.results import text_of
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
    """Read a failure that only words report, as in 1.0; no events if they are not known."""
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
