"""Maps Goose's errors to neutral kinds of error: it reports most of them as plain text."""

import re
from collections.abc import Mapping

from nightrook.adapter.api_statuses import PASSING
from nightrook.model.events import Error, ErrorKind

LIMIT = "I've reached the maximum number of actions I can do without user input."
"""The beginning of the text with which it stops at its limit of turns (1.52.0 max_turns)."""

# The texts with which it gives up, and then reports a regular end (1.52.0 api_400, api_500,
# network_error, empty_answer, context). It marks them only by naming no model for them.
_GAVE_UP = re.compile(
    r"Ran into this error|Unable to continue: |.*\nPlease resend your message|"
    r"The model returned an empty response\.",
    re.DOTALL,
)
_PREFIX = re.compile(r"Ran into this error(?: trying to compact)?: ")
_ADVICE = re.compile(r"(?<=\s)Please (?:retry if you|resend your|try again)")  # in the last line

_OPENINGS: Mapping[str, ErrorKind] = {
    "Authentication error": "auth",
    "Rate limit exceeded": "rate",
    "Context length exceeded": "context",
    "Failed to compact": "context",
    "Unable to continue": "context",
    "Credits exhausted": "quota",
    "Network error": "network",
    "Server error": "internal",
    "Request failed": "config",
}
"""The kinds of errors, by how their text begins; they are the names of its provider errors."""

_KINDS: Mapping[str | None, ErrorKind] = {
    "authentication": "auth",
    "contextLengthExceeded": "context",
}
_QUOTA = re.compile(r"quota|usage limit|billing", re.IGNORECASE)
_OVERLOADED = re.compile(r"\b(?:503|529)\b|overloaded", re.IGNORECASE)


def gives_up(text: str) -> bool:
    """True if a text of Goose's own says that it could not finish its work."""
    return _GAVE_UP.match(text) is not None


def read(text: str | None, kind: str | None = None) -> Error:
    """Read an error; `kind` is Goose's own word for it, if it has one."""
    message = shortened(text or "")
    found = _KINDS.get(kind) or _kind(message)
    return Error(kind=found, message=message or None, retryable=found in PASSING)


def shortened(text: str) -> str:
    """Return an error without the text that Goose puts around every error."""
    text = _PREFIX.sub("", text, count=1)
    # guards: goose-advice-linear
    advice = _ADVICE.search(text, text.rfind("\n") + 1)
    if advice is not None:
        text = text[: advice.start()].rstrip().removesuffix(".")
    return text.strip()


def _kind(message: str) -> ErrorKind:
    kind = _OPENINGS.get(message.partition(": ")[0].partition(" (")[0], "internal")
    if kind == "rate" and _QUOTA.search(message):
        return "quota"
    if kind == "internal" and _OVERLOADED.search(message):
        return "overload"
    return kind
