"""OpenCode: all that is known of it. `reader` is the way in, `shapes` its own words, typed."""

from collections.abc import Mapping
from typing import Any

from rookery.adapter.agent import Agent, Capabilities
from rookery.agents.opencode.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from rookery.agents.opencode.fields import CHECKED_VERSIONS, KNOWN_FIELDS
from rookery.agents.opencode.reader import decoder


def recognises(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is one of OpenCode's: its type, its session, and what it tells of."""
    type = message.get("type")
    session = message.get("sessionID")
    told = message.get("error" if type == "error" else "part")
    if not isinstance(type, str) or type not in KNOWN_FIELDS:
        return False
    return isinstance(session, str) and isinstance(told, dict)


AGENT = Agent(
    name="opencode",
    programs=PROGRAMS,
    install="npm install -g opencode-ai",
    output_flags=OUTPUT_FLAGS,
    checked_versions=CHECKED_VERSIONS,
    capabilities=Capabilities(
        deltas="no",
        thinking="yes",
        subagents="no",
        usage="partly",
        cost="partly",
        denials="yes",
        exit_codes="yes",
        resume="yes",
        end_event="no",
        calls="no",
        notes=(
            "A text or tool call is told when it has ended, not when it begins.",
            "What subagents and failed requests used is not told.",
            "The cost of a model without configured prices is not told.",
            "A request that fails is tried again in silence, for a minute or more.",
            "Nothing says which model answers, nor which tools are a server's.",
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
)
