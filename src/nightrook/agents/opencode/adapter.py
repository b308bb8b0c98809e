"""The description of OpenCode and Kilo CLI: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.agents.opencode.command import (
    KILO_PROGRAMS,
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    invoke_kilo,
    keeps_variable,
    kilo_keeps_variable,
    with_output_flags,
)
from nightrook.agents.opencode.reader import decoder, kilo_decoder


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of OpenCode's: its type, its session, and its part or error."""
    type = message.get("type")
    session = message.get("sessionID")
    content = message.get("error" if type == "error" else "part")
    if not isinstance(type, str) or type not in KNOWN_FIELDS["opencode"]:
        return False
    return isinstance(session, str) and isinstance(content, dict)


def recognises_kilo(message: Mapping[str, Any]) -> bool:
    """True if a message is certainly one of Kilo CLI's.

    Most look like OpenCode's. Only Kilo CLI measures steps, reports which rule allowed a call, and
    writes an error as text.
    """
    type, part = message.get("type"), message.get("part")
    if not isinstance(type, str) or type not in KNOWN_FIELDS["kilo"]:
        return False
    if not isinstance(message.get("sessionID"), str):
        return False
    if type == "error":
        return isinstance(message.get("error"), str)
    if not isinstance(part, dict):
        return False
    state = part.get("state")
    metadata = state.get("metadata") if isinstance(state, dict) else None
    return "metrics" in part or (isinstance(metadata, dict) and "approval" in metadata)


_WHOLE = "Texts and tool calls are reported when they are complete, not when they start."
_SUBAGENTS = (
    "Tokens of subagents and failed requests are not reported: the cost of a run with "
    'subagents is shown as "at least".'
)
_PRICES = "The cost of a model without configured prices is not reported."
_NAMES = "Neither the model that answers nor the MCP server of a tool is reported."

AGENT = Agent(
    name="opencode",
    programs=PROGRAMS,
    install="npm install -g opencode-ai",
    login="opencode auth login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("1.18.33",),
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
            _WHOLE,
            _SUBAGENTS,
            _PRICES,
            "Failed requests are retried silently, for a minute or more.",
            _NAMES,
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
)

KILO_AGENT = replace(
    AGENT,
    name="kilo",
    programs=KILO_PROGRAMS,
    resembles=("opencode",),
    install="npm install -g @kilocode/cli",
    login="kilo auth login",
    checked_versions=("7.7.9",),
    capabilities=replace(
        AGENT.capabilities,
        notes=(
            _WHOLE,
            _SUBAGENTS,
            _PRICES,
            "Failed requests are retried silently.",
            _NAMES,
            "When interrupted, it stops in the middle of its work, without a message.",
        ),
    ),
    decoder=kilo_decoder,
    recognises=recognises_kilo,
    invoke=invoke_kilo,
    keeps_variable=kilo_keeps_variable,
)
"""Kilo CLI, a fork of OpenCode."""
