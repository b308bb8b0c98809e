"""The description of Amp: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.amp.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from nightrook.agents.amp.reader import decoder

_TYPES = frozenset({"assistant", "result", "system", "user"})


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Amp's: its type, and a session with the name of a thread, T-…."""
    kind, session = message.get("type"), message.get("session_id")
    return (
        isinstance(kind, str)
        and kind in _TYPES
        and isinstance(session, str)
        and session.startswith("T-")
    )


AGENT = Agent(
    name="amp",
    programs=PROGRAMS,
    install="npm install -g @sourcegraph/amp",
    login="amp login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=(),
    capabilities=Capabilities(
        deltas="no",
        thinking="yes",
        subagents="no",
        usage="partly",
        cost="no",
        denials="partly",
        exit_codes="no",
        resume="yes",
        end_event="yes",
        notes=(
            "This adapter is based on Amp's documentation and program, not on recorded runs.",
            "It reports neither its model nor its version, so the cost cannot be estimated.",
            "The work and the tokens of subagents are not reported.",
            "A tool that needs approval ends the run.",
            "Without a login it waits for one: rook stops it then. Run `amp login` first, or set "
            "AMP_API_KEY.",
        ),
    ),
    unbudgeted="amp does not report its model, so its cost is unknown",
    evidence="documentation",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    login_prompt="No API key found.",
)
