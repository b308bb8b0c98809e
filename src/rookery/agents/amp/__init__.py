"""Amp: what its documents and its program tell of `amp -x --stream-json`. See `reader`."""

from collections.abc import Mapping
from typing import Any

from rookery.adapter.agent import Agent, Capabilities
from rookery.agents.amp.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    with_output_flags,
)
from rookery.agents.amp.reader import decoder

_TYPES = frozenset({"assistant", "result", "system", "user"})


def recognises(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is one of Amp's: its sessions are threads, and called so: T-…."""
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
            "What is known of it comes from documents and its program, not from recorded runs.",
            "It names neither its model nor its version, so no cost can be estimated.",
            "What subagents do and use is not told.",
            "A tool that needs approval ends the run.",
        ),
    ),
    evidence="documentation",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
)
