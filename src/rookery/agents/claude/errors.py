"""Maps Claude Code's errors to neutral kinds of error."""

from collections.abc import Mapping

from rookery.agents.claude import shapes
from rookery.agents.claude.tool_results import text_of
from rookery.model.events import Error, ErrorKind

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

_VAGUE = frozenset({"invalid_request", "invalid_request_error", "server_error", "api_error"})
_PASSING = frozenset({"rate", "overload", "network", "internal"})


def api_error(message: shapes.Assistant, *, limited: bool) -> Error:
    """Read an API failure, which is reported as a message of the model.

    `limited` means that the provider's limit was reached: before 2.1.325 the message itself
    calls that a rate limit (2.1.197 s15_rate_limit_event).
    """
    inner = message.message or shapes.Message()
    text = text_of(inner.content)
    kind = kind_of(message.api_error, message.error, message.api_error_type)
    if inner.stop_reason == "refusal":
        kind = "policy"
    elif kind == "rate" and limited:
        kind = "quota"
    elif kind == "config" and text is not None and text.startswith("Prompt is too long"):
        kind = "context"  # no field says so (2.1.197 and 2.1.325 s11e_fail_prompt_too_long)
    retryable = None if kind is None else kind in _PASSING
    return Error(kind=kind or "internal", message=text, retryable=retryable)


def kind_of(*names: str | None) -> ErrorKind | None:
    """The kind for the most specific of these names; None if all of them are unknown."""
    known = sorted((name for name in names if name and name in KINDS), key=_VAGUE.__contains__)
    return KINDS[known[0]] if known else None
