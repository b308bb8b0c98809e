"""GitHub Copilot CLI's tools: their kinds, titles of calls, and their changes to files."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.tools import Tools, first_of
from nightrook.agents.copilot import shapes
from nightrook.model.events import Change, FileChanged, ToolStarted
from nightrook.model.permissions import PERMIT_ALL

SUBAGENT = "task"
"""The tool that starts a subagent."""

TOOLS = Tools(
    kinds={
        "bash": "execute",
        "powershell": "execute",
        "read_bash": "execute",
        "write_bash": "execute",
        "stop_bash": "execute",
        "list_bash": "execute",
        "view": "read",
        "fetch_copilot_cli_documentation": "read",
        "create": "edit",
        "edit": "edit",
        "apply_patch": "edit",
        "glob": "search",
        "grep": "search",
        "web_fetch": "fetch",
        "web_search": "fetch",
        SUBAGENT: "subagent",
        "read_agent": "subagent",
        "write_agent": "subagent",
        "list_agents": "subagent",
        "skill": "skill",
        "ask_user": "ask",
        "exit_plan_mode": "plan",
        "update_todo": "plan",
    },
    titles={
        "execute": ("command", "shellId"),
        "read": ("path",),
        "edit": ("path",),
        "search": ("pattern",),
        "fetch": ("url", "query"),
        "subagent": ("description", "prompt", "agent_id"),
        "skill": ("skill",),
        "plan": (),
    },
    mcp_prefix="\0",  # the messages name the server, and the name of a tool may have a dash itself
)

_CHANGES: Mapping[str | None, Change] = {
    "create": "add",
    "edit": "modify",
    "delete": "delete",
    "move": "move",
    "rename": "move",
}
_SIMPLE = re.compile(r"([\w./+-]+)(?: [^;&|<>$`()\n]*)?")
_SUBCOMMANDS = frozenset({"git", "gh"})  # a rule for them names the subcommand, too


class _EditInput(msgspec.Struct, gc=False):
    path: str | None = None
    old_str: str | None = None
    new_str: str | None = None
    file_text: str | None = None


_edit_decoder = msgspec.json.Decoder(_EditInput)


def subagent(name: str, input: msgspec.Raw) -> str | None:
    """The type of subagent that a call starts."""
    return first_of(input, "agent_type") if name == SUBAGENT else None


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode_part(started.input, _edit_decoder)
    if edit is None:
        return ()
    after = edit.new_str if edit.file_text is None else edit.file_text
    return (Replacement(edit.old_str or "", after or ""),) if edit.old_str or after else ()


def changes(id: str, result: shapes.Completion) -> Iterator[FileChanged]:
    """Yield the files that a call changed; the lines are counted for all of them together."""
    edits = [edit for edit in result.file_edits or () if edit.path]
    metrics = salvage.decode_part(result.tool_telemetry, _telemetry_decoder)
    counts = metrics.metrics if metrics and metrics.metrics and len(edits) == 1 else None
    for edit in edits:
        yield FileChanged(
            path=edit.path or "",
            change=_CHANGES.get(edit.kind),
            added=counts.lines_added if counts else None,
            removed=counts.lines_removed if counts else None,
            tool_id=id,
        )


_telemetry_decoder = msgspec.json.Decoder(shapes.Telemetry)


def rule(started: ToolStarted | None) -> str | None:
    """The rule that would allow a denied call, as narrow as can be said with certainty."""
    if started is None:
        return PERMIT_ALL
    if started.server is not None:
        return f"{started.server}({started.tool})" if started.tool else started.server
    if started.kind == "edit":
        return "write"
    if started.kind != "execute":
        return PERMIT_ALL
    command = _SIMPLE.fullmatch(started.title or "")
    if command is None:
        return "shell"
    words = command[0].split()
    known = words[:2] if words[0] in _SUBCOMMANDS else words[:1]
    return f"shell({' '.join(known)})"
