"""The description of Cline: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.cline.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    prompt_above_stdin,
    with_output_flags,
)
from nightrook.agents.cline.reader import decoder
from nightrook.agents.cline.tools import replacements

_REQUIRED: Mapping[str, frozenset[str]] = {
    "hook_event": frozenset({"hookEventName", "agentId"}),
    "agent_event": frozenset({"event"}),
    "run_result": frozenset({"finishReason", "iterations"}),
    "run_aborted": frozenset({"reason"}),
}
"""The fields that a message of each type must have, in addition to its time."""


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Cline's: its type, its time and the required fields."""
    kind = message.get("type")
    required = _REQUIRED.get(kind) if isinstance(kind, str) else None
    return (
        required is not None and isinstance(message.get("ts"), str) and required <= message.keys()
    )


AGENT = Agent(
    name="cline",
    programs=PROGRAMS,
    install="npm install -g cline",
    login="cline auth",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("3.0.65",),
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="yes",
        usage="yes",
        cost="partly",
        denials="yes",
        exit_codes="yes",
        resume="no",
        end_event="partly",
        notes=(
            "The model is reported when the run has ended.",
            "The cost of a model without known prices is not reported.",
            "Everything between the start and the end of a subagent's call counts as its work: no "
            "message says who does what.",
            "Its sessions can't be resumed without a terminal, and the stream doesn't name them.",
            "Failed requests are retried silently.",
            "When interrupted, it stops in the middle of its output and exits with 0.",
            "Two subagents that work side by side are not told apart: what either does is shown "
            "under the one that began last.",
        ),
    ),
    with_stdin=prompt_above_stdin,
    unbudgeted="cline reports its model only when the run has ended",
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    chatter=(  # of a library that it uses
        "Warning: AI SDK Warning System",
        "DeprecationWarning: AI SDK Warning",
        "      at ",
    ),
    replacements=replacements,
)
