"""Claude's words for what went wrong, as neutral kinds of error."""

from collections.abc import Mapping

from rookery.agents.claude import shapes
from rookery.agents.claude.outcomes import text_of
from rookery.core.events import Error, ErrorKind

KINDS: Mapping[str, ErrorKind] = {
    "authentication_failed": "auth",
    "oauth_org_not_allowed": "auth",
    "account_on_hold": "auth",
    "verification_required": "auth",
    "cloud_credential_error": "auth",
    "billing_error": "quota",
    "usage_limit_reached": "quota",
    "rate_limit": "rate",
    "overloaded": "overload",
    "overloaded_error": "overload",
    "connection_failed": "network",
    "max_output_tokens": "context",
    "request_too_large": "context",
    "invalid_request": "config",
    "model_not_found": "config",
    "server_error": "internal",
    "unknown": "internal",
}
"""The kind of each word in `error`, `api_error` and `api_error_type`."""

_PASSING = frozenset({"rate", "overload", "network", "internal"})


def api_error(message: shapes.Assistant) -> Error:
    """Read the message that tells, in the model's name, that its API failed."""
    said = message.message or shapes.Message()
    text = text_of(said.content)
    kind = kind_of(message.api_error, message.api_error_type, message.error)
    if said.stop_reason == "refusal":
        kind = "policy"
    elif kind == "config" and text is not None and text.startswith("Prompt is too long"):
        kind = "context"  # no field tells (2.1.197 and 2.1.325 s11e_fail_prompt_too_long)
    return Error(kind=kind, message=text, retryable=kind in _PASSING)


def kind_of(*words: str | None) -> ErrorKind:
    """The kind that the first word we know stands for."""
    return next((KINDS[word] for word in words if word and word in KINDS), "internal")
