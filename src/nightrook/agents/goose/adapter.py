"""Goose as rook runs it: `command` starts it, `reader` decodes `--output-format stream-json`."""

import re
from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities
from nightrook.agents.goose.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    resumes,
    with_output_flags,
)
from nightrook.agents.goose.reader import decoder
from nightrook.agents.goose.tools import replacements
from nightrook.model.permissions import PERMIT_ALL


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Goose's: its type, and fields that no other agent writes."""
    kind = message.get("type")
    if kind == "message":
        content = message.get("message")
        return isinstance(content, dict) and {"created", "content", "metadata"} <= content.keys()
    if kind == "notification":
        return "extension_id" in message
    return kind == "complete" and "cache_read_input_tokens" in message


AGENT = Agent(
    name="goose",
    programs=PROGRAMS,
    install="npm install -g @aaif/goose-binary-linux-x64",
    login="goose configure",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("1.52.0",),
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="partly",
        usage="partly",
        cost="partly",
        denials="partly",
        exit_codes="yes",
        resume="yes",
        end_event="partly",
        notes=(
            "Tokens and cost are reported when the run has ended, as totals of the session with "
            "its subagents, so limits on cost and tokens take effect only then. The cost is "
            "missing for a model whose price Goose does not know.",
            "Most API failures are reported as a text of the agent and a regular end; rook shows "
            "them as failures.",
            "Of subagents, only the names of their tools are reported.",
            "A call that needs approval ends the run, and only stderr says so.",
            "Failed requests are retried silently.",
            "An answer that broke off is reported like a whole one, but without tokens if it was "
            "the first: then the run counts as incomplete, also with a model server that reports "
            "no tokens.",
        ),
    ),
    unbudgeted="goose reports its tokens only when the run has ended",
    refusals=re.compile(r"^Error: (Tool approval required in non-interactive mode)"),
    refusal_fixes={"Tool approval required": PERMIT_ALL},
    refusal_ends=True,
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    resumes=resumes,
    replacements=replacements,
)
