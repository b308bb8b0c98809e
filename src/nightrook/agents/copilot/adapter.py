"""GitHub Copilot CLI as rook runs it: `copilot --output-format json`."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.copilot.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from nightrook.agents.copilot.reader import decoder
from nightrook.agents.copilot.tools import replacements


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Copilot's: its envelope, or the fields of its result."""
    kind = message.get("type")
    if kind == "result":
        return "sessionId" in message and "exitCode" in message
    return (
        isinstance(kind, str)
        and ("." in kind or kind == "abort")
        and {"data", "id", "timestamp", "parentId"} <= message.keys()
    )


AGENT = Agent(
    name="copilot",
    programs=PROGRAMS,
    install="npm install -g @github/copilot",
    login="copilot login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("1.0.102",),
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="yes",
        usage="no",
        cost="no",
        denials="yes",
        exit_codes="yes",
        resume="partly",
        end_event="partly",
        notes=(
            "Tokens and cost are not reported; with a model of your own provider, not even how "
            "many requests there were.",
            "The session is named only at the end, so a run that was interrupted cannot be "
            "resumed.",
            "Premium requests are counted by GitHub, and are no amount of money.",
            "It replaces the values of secrets by ****** wherever they occur.",
        ),
    ),
    unbudgeted="copilot does not report its tokens",
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    chatter=("Package extraction took ",),
    replacements=replacements,
)
