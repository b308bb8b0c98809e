"""The description of Qwen Code: how to start, recognise and read it."""

from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities, PromptLimit, stdin_before_prompt
from nightrook.agents.qwen.command import (
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    resumes,
    with_output_flags,
)
from nightrook.agents.qwen.reader import CHECKED_VERSIONS, decoder
from nightrook.agents.qwen.tools import replacements


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is Qwen Code's: the first message of each turn includes its version."""
    return message.get("type") == "system" and "qwen_code_version" in message


AGENT = Agent(
    name="qwen",
    programs=PROGRAMS,
    install="npm install -g @qwen-code/qwen-code",
    login="qwen, then /auth",
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
            "API failures are reported as text of the model, by 0.15.10 even as a success; "
            "rook shows them as failures.",
            "The tokens of subagents and of internal requests are reported only in the total of "
            "the session, when the turn has ended.",
            "The exit code of a command is reported only if the command failed; by 0.15.10, only "
            "if it wrote nothing.",
            "0.24.4 reports retries once an answer has started; other retries are not reported.",
            "The work of background subagents is not reported, only how they ended.",
            "An answer that the model cut off (length) or that a filter stopped (content_filter) "
            "is reported as a success, like a whole one.",
            "When interrupted, it ends without a result; when it reaches a limit of its own, only "
            "its exit code says so.",
        ),
    ),
    with_stdin=stdin_before_prompt,
    prompt_limit=PromptLimit(8 * 1024 * 1024),  # what is longer is cut off
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
