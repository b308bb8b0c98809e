"""Errors: one root, and messages that name the thing and the way out."""

import pytest

from nightrook.model import errors
from nightrook.model.errors import (
    NightrookError,
    UndetectedAgentError,
    UnknownAgentError,
    UnreadableSourceError,
    UnsupportedError,
)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            UnknownAgentError("cluade", ["claude", "other"]),
            "no agent named 'cluade'; known agents: claude, other; did you mean claude?",
        ),
        (
            UnknownAgentError("zed", ["claude", "other"]),
            "no agent named 'zed'; known agents: claude, other",
        ),
        (
            UndetectedAgentError("log.jsonl", ["claude"]),
            "log.jsonl: no agent recognises these lines; name the agent with agent= or "
            "--agent (known agents: claude)",
        ),
        (UnreadableSourceError("log.jsonl", "no such file"), "log.jsonl: no such file"),
        (
            UnsupportedError("codex", "counts no steps", "leave out --max-turns"),
            "codex counts no steps: leave out --max-turns",
        ),
    ],
)
def test_an_error_names_the_thing_and_the_way_out(error: NightrookError, message: str) -> None:
    assert str(error) == message


def test_the_docstring_draws_every_error() -> None:
    drawn = {word for word in (errors.__doc__ or "").split() if word.endswith("Error")}
    found = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, NightrookError)
    }
    assert drawn == found
