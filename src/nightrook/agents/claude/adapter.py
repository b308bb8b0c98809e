"""The description of Claude Code: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities, ControlChannel
from nightrook.agents.claude import approvals
from nightrook.agents.claude.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from nightrook.agents.claude.memory import CHECKED_VERSIONS
from nightrook.agents.claude.reader import decoder
from nightrook.agents.claude.tools import replacements

_TYPES = frozenset(
    {
        "assistant",
        "command_lifecycle",
        "control_request",
        "control_response",
        "conversation_reset",
        "rate_limit_event",
        "result",
        "stream_event",
        "system",
        "tool_progress",
        "tool_use_summary",
        "user",
    }
)


_OWN_FIELDS = frozenset({"apiKeySource", "mcp_servers", "permissionMode", "slash_commands", "uuid"})
"""Fields of a whole first message; without them, Droid's looks the same."""

_IMITATED = frozenset({"assistant", "result", "user"})
_BODIES = frozenset({"response", "request"})
_IDS = frozenset({"parent_tool_use_id", "uuid"})


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Claude Code's: its type, and another field that identifies it."""
    type = message.get("type")
    if not isinstance(type, str) or type not in _TYPES:
        return False
    if message.get("subtype") == "init" and "cwd" in message:
        is_whole = "tools" in message and not _OWN_FIELDS.isdisjoint(message)
        return is_whole or "claude_code_version" in message
    if type in _IMITATED:
        return _is_own(type, message)
    return "session_id" in message or "subtype" in message or not _BODIES.isdisjoint(message)


def _is_own(type: str, message: Mapping[str, Any]) -> bool:
    """True if a message of a type that other agents write, too, is Claude Code's."""
    inner = message.get("message")
    if type == "result":
        return "request_id" not in message
    if not isinstance(inner, dict) or "content" not in inner:
        return False
    return "id" in inner or "session_id" not in message or not _IDS.isdisjoint(message)


AGENT = Agent(
    name="claude",
    programs=PROGRAMS,
    install="npm install -g @anthropic-ai/claude-code",
    login="claude /login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=CHECKED_VERSIONS,
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="partly",
        usage="yes",
        cost="yes",
        denials="yes",
        exit_codes="partly",
        resume="yes",
        end_event="yes",
        notes=(
            "The work of background subagents is reported as progress, not as single calls.",
            "The exit code of a command is reported only if the command failed.",
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    replacements=replacements,
    control=ControlChannel(
        read=approvals.read, answer=approvals.answer, interrupt=lambda: approvals.INTERRUPT
    ),
)
