"""Kimi Code as rook runs it: `command` starts it, `reader` decodes its stream."""

import re
from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.kimi.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from nightrook.agents.kimi.history import SESSION_LOG
from nightrook.agents.kimi.reader import decoder
from nightrook.agents.kimi.tools import replacements

_OWN_TYPES = frozenset({"system.version", "turn.step.retrying", "session.resume_hint"})


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Kimi's own; the others are those of any chat API."""
    return message.get("role") == "meta" and message.get("type") in _OWN_TYPES


AGENT = Agent(
    name="kimi",
    programs=PROGRAMS,
    install="npm install -g @moonshot-ai/kimi-code",
    login="kimi login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("2.1.0",),
    capabilities=Capabilities(
        deltas="no",
        thinking="no",
        subagents="no",
        usage="no",
        cost="no",
        denials="no",
        exit_codes="partly",
        resume="yes",
        end_event="partly",
        notes=(
            "Texts are reported when they are complete.",
            "Tokens and cost are not reported, so limits on them cannot hold.",
            "Failed calls are recognised by the words of its own tools: a failure of a tool of an "
            "MCP server is not.",
            "Errors of the API are reported on stderr only.",
            "An answer that breaks off is reported like a whole one: rook run notices it by Kimi's "
            "own log of the session, a decoded stream alone does not show it.",
            "The session is named when the run has ended well, so an interrupted one cannot be "
            "resumed.",
        ),
    ),
    unbudgeted="kimi reports neither tokens nor cost",
    failures=re.compile(r"^error: failed to run prompt: (.+)"),
    complaints=("error: ", "Warning: ", "See log: "),
    session_log=SESSION_LOG,
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    replacements=replacements,
)
