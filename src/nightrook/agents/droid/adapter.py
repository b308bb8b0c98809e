"""The description of Factory Droid: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.droid.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from nightrook.agents.droid.reader import decoder
from nightrook.agents.droid.tools import replacements

_REQUIRED: Mapping[str, frozenset[str]] = {
    "system": frozenset({"subtype", "cwd", "tools", "reasoning_effort"}),
    "message": frozenset({"role", "id", "text", "timestamp"}),
    "reasoning": frozenset({"id", "text", "timestamp"}),
    "tool_call": frozenset({"id", "messageId", "toolName"}),
    "tool_result": frozenset({"id", "messageId", "toolId"}),
    "error": frozenset({"source", "message", "timestamp"}),
    "completion": frozenset({"finalText", "numTurns"}),
}
"""The fields that a message of each type must have, in addition to its session."""


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Droid's: its type, a session and the required fields."""
    kind, usage = message.get("type"), message.get("usage")
    if not isinstance(kind, str) or not isinstance(message.get("session_id"), str):
        return False
    if kind == "result":
        return isinstance(usage, dict) and "factory_credits" in usage
    return kind in _REQUIRED and _REQUIRED[kind] <= message.keys()


AGENT = Agent(
    name="droid",
    programs=PROGRAMS,
    install="npm install -g droid",
    login="droid, then /login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("0.215.0",),
    capabilities=Capabilities(
        deltas="no",
        thinking="yes",
        subagents="no",
        usage="partly",
        cost="no",
        denials="yes",
        exit_codes="yes",
        resume="yes",
        end_event="partly",
        notes=(
            "Texts are reported when they are complete.",
            "Tokens are reported when the turn has ended, so limits on cost and tokens take "
            "effect only then. Those of subagents are not reported.",
            "Factory credits are not dollars: the cost is estimated from the tokens.",
            "An answer that breaks off is reported like a whole one. It is noticed only if no "
            "tokens were counted in the whole run, which is also so if a provider reports none.",
            "A call that needs more autonomy ends the run.",
            "Retries of failed requests are not reported, for a minute or more.",
            "A session is resumed as a fork with a new id, which needs no login.",
            "When it is interrupted, it exits with 0. A command is ended, and the turn may go on.",
        ),
    ),
    unbudgeted="droid reports its tokens only when the turn has ended",
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    replacements=replacements,
)
