"""Codex CLI: all that is known of `codex exec --json` and `codex app-server`."""

from collections.abc import Mapping
from typing import Any

from rookery.adapter.agent import Agent, Capabilities, Way
from rookery.agents.codex.command import (
    APP_SERVER,
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    resumes,
    with_output_flags,
)
from rookery.agents.codex.fields import CHECKED_VERSIONS
from rookery.agents.codex.streams import decoder, is_rpc

_TYPES = frozenset({"turn.started", "turn.completed", "turn.failed"})


def recognises(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is one of Codex's: types with dots, and what must be in them.

    Those of the app server have methods, but it answers us first, and tells its home.
    """
    if is_rpc(message):
        result = message.get("result")
        return isinstance(result, dict) and "codexHome" in result
    kind = message.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "thread.started":
        return "thread_id" in message
    if kind.startswith("item."):
        item = message.get("item")
        return isinstance(item, dict) and "id" in item and "type" in item
    return kind in _TYPES


AGENT = Agent(
    name="codex",
    programs=PROGRAMS,
    install="npm install -g @openai/codex",
    output_flags=OUTPUT_FLAGS,
    checked_versions=tuple(sorted(CHECKED_VERSIONS)),
    capabilities=Capabilities(
        deltas="no",
        thinking="partly",
        subagents="no",
        usage="partly",
        cost="no",
        denials="partly",
        exit_codes="yes",
        resume="yes",
        end_event="yes",
        notes=(
            "Of its thoughts it tells summaries only.",
            "Tokens are told when a turn ends well, as the total of the whole thread; "
            "of a turn that fails or is interrupted, and of subagents, never.",
            "A limit of money or tokens is therefore noticed only when the turn is over.",
            "It names neither its model nor its version, so a cost is estimated only for the "
            "model that you ask for.",
            "What its sandbox or its rules refuse at once leaves no trace; only what its "
            "automatic reviewer declines is told.",
            "What a command writes is told when the command ends.",
            "A turn that is interrupted is not told to have ended.",
        ),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    resumes=resumes,
    chatter=("Reading additional input from stdin...",),  # though there is none to be read
    ways=(
        Way(name="exec", usage="partly"),
        Way(
            name=APP_SERVER,
            asks=True,
            usage="yes",
            notes=(
                "It tells text, thoughts and what commands write as they come, its model and its "
                "version, and the tokens of every request, of subagents, too; a turn that is "
                "interrupted is told.",
                "It asks before what the settings leave open, with --permission ask, which is "
                "usual on a terminal.",
                "It works outside a git repository, too.",
            ),
        ),
    ),
)
