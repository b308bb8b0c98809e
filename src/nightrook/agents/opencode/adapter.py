"""Everything that the rest of the program knows about OpenCode."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.adapter.finished_parts.command import OUTPUT_FLAGS, with_output_flags
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.agents.opencode.command import PROGRAMS, invoke, keeps_variable
from nightrook.agents.opencode.reader import decoder


def recognises(message: Mapping[str, Any]) -> bool:
    """Whether a message is one of OpenCode's: its type, its session, and its part or error."""
    type = message.get("type")
    session = message.get("sessionID")
    content = message.get("error" if type == "error" else "part")
    if not isinstance(type, str) or type not in KNOWN_FIELDS["opencode"]:
        return False
    return isinstance(session, str) and isinstance(content, dict)


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
            "Texts and tool calls are reported when they are complete, not when they start.",
            "Tokens of subagents and failed requests are not reported: the cost of a run with "
            'subagents is shown as "at least".',
            "The cost of a model without configured prices is not reported.",
            "Failed requests are retried silently, for a minute or more.",
            "Neither the model that answers nor the MCP server of a tool is reported.",
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
)
