"""The description of Gemini CLI: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities, PromptLimit, stdin_before_prompt
from nightrook.agents.gemini.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from nightrook.agents.gemini.reader import decoder
from nightrook.agents.gemini.tools import replacements

_REQUIRED: Mapping[str, frozenset[str]] = {
    "init": frozenset({"session_id"}),
    "message": frozenset({"role", "content"}),
    "tool_use": frozenset({"tool_name", "tool_id"}),
    "tool_result": frozenset({"tool_id", "status"}),
    "error": frozenset({"severity"}),
    "result": frozenset({"status", "stats"}),
}
"""The fields that a message of each type must have, in addition to its timestamp."""


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Gemini CLI's: its type, a timestamp and the required fields."""
    kind = message.get("type")
    required = _REQUIRED.get(kind) if isinstance(kind, str) else None
    return (
        required is not None
        and isinstance(message.get("timestamp"), str)
        and required <= message.keys()
    )


AGENT = Agent(
    name="gemini",
    programs=PROGRAMS,
    install="npm install -g @google/gemini-cli",
    login="gemini, then /auth",
    login_codes=(41,),  # without a message
    output_flags=OUTPUT_FLAGS,
    checked_versions=("0.61.0",),
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
            "Thinking is not reported, only counted in the total of tokens.",
            "Tokens are reported when the turn has ended, so limits on cost and tokens take "
            "effect only then.",
            "A failed command is reported as a success, without an exit code.",
            "Tools that need approval are hidden from the model; a call of one is shown as denied.",
            "Retries of failed requests are not reported; a text that broke off is followed by "
            "that of the retry without a separator.",
            "An answer that the model cut off (MAX_TOKENS) or that a filter stopped (SAFETY, "
            "RECITATION) is reported as a success, like a whole one.",
            "When interrupted, it stops in the middle of its output and exits with 0.",
            "It refuses to work in an untrusted folder: trust the folder once, or pass "
            "`-- --skip-trust`.",
        ),
    ),
    with_stdin=stdin_before_prompt,
    prompt_limit=PromptLimit(8 * 1024 * 1024),  # what is longer is cut off
    unbudgeted="gemini reports its tokens only when the turn has ended",
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    chatter=(  # about a terminal that it does not have
        "Warning: Basic terminal detected",
        "Warning: 256-color support not detected",
    ),
    replacements=replacements,
)
