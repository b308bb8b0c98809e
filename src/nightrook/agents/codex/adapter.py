"""The description of Codex CLI: how to start, recognise and read it."""

import re
from collections.abc import Mapping
from typing import Any

from nightrook.adapter.agent import Agent, Capabilities, PromptLimit, Way
from nightrook.agents.codex.command import (
    APP_SERVER,
    OUTPUT_FLAGS,
    PROGRAMS,
    invoke,
    keeps_variable,
    resumes,
    serves,
    with_output_flags,
    with_stdin,
)
from nightrook.agents.codex.history import SESSION_LOG
from nightrook.agents.codex.reader import decoder, is_rpc
from nightrook.model.permissions import PERMIT_EDITS

_TYPES = frozenset({"turn.started", "turn.completed", "turn.failed"})
_REFUSALS = (
    "patch rejected: .+",
    "Command blocked by PreToolUse hook: .+",  # guards: blocked-by-hook
    r"approval policy is Never; reject command\b.*",  # guards: nobody-to-approve
)


def recognises(message: Mapping[str, Any]) -> bool:
    """True if a message is one of Codex's: a type with a dot, and the fields of that type.

    The app server's first message is a response that includes its home folder.
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
    login="codex login",
    output_flags=OUTPUT_FLAGS,
    checked_versions=("0.166.0",),
    capabilities=Capabilities(
        deltas="yes",
        thinking="partly",
        subagents="no",
        usage="yes",
        cost="no",
        denials="partly",
        exit_codes="yes",
        resume="yes",
        end_event="yes",
        notes=(
            "Only summaries of its thinking are reported.",
            "Without a permission, its sandbox is read-only unless its settings say otherwise. A "
            "command that fails on a read-only file system, and a patch or command that stderr "
            "reports as rejected, or as blocked by a hook, count as denied; other calls that the "
            "sandbox blocks are not reported.",
        ),
    ),
    with_stdin=with_stdin,
    prompt_limit=PromptLimit(1 << 20, "characters"),  # its own error names it (0.166.0)
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=keeps_variable,
    resumes=resumes,
    unpermitted="codex may not change any file, unless its own settings allow it: "
    "--permission edit allows it",
    # No message reports these (0.166.0, 0.169.0). The app server colours the lines.
    refusals=re.compile(f" ERROR codex_core::tools::router: error=({'|'.join(_REFUSALS)})"),
    refusal_fixes={"patch rejected: ": PERMIT_EDITS},  # no option overrules a hook
    chatter=("Reading additional input from stdin...", "Reading prompt from stdin..."),
    session_log=SESSION_LOG,
    serves=serves,
    ways=(
        Way(
            name=APP_SERVER,
            asks=True,
            usage="yes",
            notes=(
                "Text, thinking and the output of commands are reported as they arrive, and so are "
                "its model and version, the tokens of every request, including subagents, and "
                "interrupted turns.",
                "It is used unless you choose exec, add arguments that only exec takes, or want "
                "plain text.",
                "With --permission ask, the default on a terminal, it asks for approval of "
                "everything that its settings leave open.",
                "It also works outside a git repository.",
            ),
        ),
        Way(
            name="exec",
            usage="partly",
            unbudgeted="codex exec reports its tokens only when the turn has ended",
            notes=(
                "Tokens are reported when a turn succeeds, as the total of the whole thread; "
                "those of failed or interrupted turns and of subagents are not reported.",
                "It reports neither its model nor its version. The model is read at the end of "
                "the turn from the session that Codex keeps; with --ephemeral it keeps none, and "
                "the cost is estimated only for a model that you choose.",
                "Text, thinking and the output of commands are reported when they are complete.",
                "The end of an interrupted turn is not reported.",
            ),
        ),
    ),
)
