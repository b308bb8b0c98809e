"""Gemini CLI: all that is known of `gemini --output-format stream-json`. `reader` is the way in."""

from collections.abc import Mapping
from typing import Any

from rookery.adapter.agent import Agent, Capabilities
from rookery.agents.gemini.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from rookery.agents.gemini.fields import CHECKED_VERSIONS
from rookery.agents.gemini.reader import decoder
from rookery.agents.gemini.tools import replacements

_TELLTALES: Mapping[str, frozenset[str]] = {
    "init": frozenset({"session_id"}),
    "message": frozenset({"role", "content"}),
    "tool_use": frozenset({"tool_name", "tool_id"}),
    "tool_result": frozenset({"tool_id", "status"}),
    "error": frozenset({"severity"}),
    "result": frozenset({"status", "stats"}),
}
"""What a message of each type must have, beside its time."""


def recognises(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is one of Gemini CLI's: flat, with a time, and its telltale parts."""
    kind = message.get("type")
    telltales = _TELLTALES.get(kind) if isinstance(kind, str) else None
    return (
        telltales is not None
        and isinstance(message.get("timestamp"), str)
        and telltales <= message.keys()
    )


AGENT = Agent(
    name="gemini",
    programs=PROGRAMS,
    install="npm install -g @google/gemini-cli",
    output_flags=OUTPUT_FLAGS,
    checked_versions=CHECKED_VERSIONS,
    capabilities=Capabilities(
        deltas="yes",
        thinking="no",
        subagents="no",
        usage="partly",
        cost="no",
        denials="partly",
        exit_codes="no",
        resume="yes",
        end_event="partly",
        notes=(
            "Its thoughts are not told, only counted in the total of tokens.",
            "Tokens are told when the turn is over: a limit of money or tokens is noticed only "
            "then.",
            "A command that fails is told as a success, without an exit code.",
            "Without somebody to ask, it hides the tools that would need permission: a call of one "
            "is shown as denied.",
            "Retries of failed requests are not told; a text that broke off is followed by that "
            "of the next try without a mark.",
            "When it is interrupted, it stops in mid word and exits with 0.",
            "In a folder that nobody trusted it refuses to work: trust it once, or pass "
            "`-- --skip-trust`.",
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    chatter=(  # of how it would look if it had a terminal
        "Warning: Basic terminal detected",
        "Warning: 256-color support not detected",
    ),
    replacements=replacements,
)
