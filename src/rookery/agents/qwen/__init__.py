"""Qwen Code: all that is known of `qwen --output-format stream-json`. `reader` is the way in."""

from collections.abc import Mapping
from typing import Any

from rookery.adapter.agent import Agent, Capabilities
from rookery.agents.qwen.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    resumes,
    with_output_flags,
)
from rookery.agents.qwen.fields import CHECKED_VERSIONS
from rookery.agents.qwen.reader import decoder
from rookery.agents.qwen.tools import replacements


def recognises(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is Qwen Code's: the first one of each turn names its version."""
    return message.get("type") == "system" and "qwen_code_version" in message


AGENT = Agent(
    name="qwen",
    programs=PROGRAMS,
    install="npm install -g @qwen-code/qwen-code",
    output_flags=OUTPUT_FLAGS,
    checked_versions=CHECKED_VERSIONS,
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="partly",
        usage="partly",
        cost="no",
        denials="yes",
        exit_codes="partly",
        resume="yes",
        end_event="partly",
        notes=(
            "A failure of the API is told in the words of the model, by 0.15.10 even as a success; "
            "it is shown as the failure that it is.",
            "The tokens of subagents, and of calls that it makes for itself, are told in the sum "
            "of the session when the turn is over.",
            "The exit code of a command is told only if the command failed; by 0.15.10, only if it "
            "wrote nothing.",
            "Retries are told by 0.24.4 once an answer has begun; else they are not.",
            "What subagents in the background do is not told, only how they ended.",
            "When it is interrupted it ends without a result, and when it reaches a limit of its "
            "own, only its exit code says so.",
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    resumes=resumes,
    replacements=replacements,
    limit_codes={53: "max_turns", 55: "max_budget"},
)
