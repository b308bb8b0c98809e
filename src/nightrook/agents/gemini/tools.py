"""Gemini CLI's tools: their kinds, titles of calls, and their changes to files and plan."""

from collections.abc import Iterator

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.tools import Tools, first_of
from nightrook.model.events import (
    Change,
    Event,
    FileChanged,
    PlanChanged,
    PlanItem,
    ToolStarted,
)

SUBAGENT = "invoke_agent"
"""The tool that starts a subagent."""

_FILE = ("file_path", "dir_path", "path")
TOOLS = Tools(
    kinds={
        "read_file": "read",
        "read_many_files": "read",
        "get_internal_docs": "read",
        "list_directory": "list",
        "glob": "search",
        "grep_search": "search",
        "search_file_content": "search",
        "write_file": "edit",
        "replace": "edit",
        "run_shell_command": "execute",
        "web_fetch": "fetch",
        "google_web_search": "fetch",
        SUBAGENT: "subagent",
        "write_todos": "plan",
        "enter_plan_mode": "plan",
        "exit_plan_mode": "plan",
        "ask_user": "ask",
        "activate_skill": "skill",
        "save_memory": "other",
        "update_topic": "other",
    },
    titles={
        "read": _FILE,
        "edit": _FILE,
        "list": _FILE,
        "search": ("pattern",),
        "execute": ("command",),
        "fetch": ("query", "url", "prompt"),
        "subagent": ("prompt", "agent_name"),
        "plan": (),
    },
    mcp_prefix="mcp_",  # the name of a server must not contain an underscore
    mcp_separator="_",
)

CHANGING = frozenset({"edit", "plan"})
"""The kinds of tools that change files or the plan."""


class _EditInput(msgspec.Struct, gc=False):
    file_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    content: str | None = None


class _Todo(msgspec.Struct, gc=False):
    description: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: list[_Todo] | None = None


_edit_decoder = msgspec.json.Decoder(_EditInput)
_todo_decoder = msgspec.json.Decoder(_TodoInput)


def subagent(input: msgspec.Raw) -> str | None:
    """The type of subagent that a call starts."""
    return first_of(input, "agent_name")


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode_part(started.input, _edit_decoder)
    if edit is None:
        return ()
    after = edit.new_string if edit.content is None else edit.content
    return (Replacement(edit.old_string or "", after or ""),) if edit.old_string or after else ()


def changes(name: str, id: str, input: msgspec.Raw | None) -> Iterator[Event]:
    """Yield the changes of a successful call according to its input: its result has none."""
    if input is None:
        return
    if TOOLS.kind(name) == "edit":
        edit = salvage.decode_part(input, _edit_decoder)
        if edit is not None and edit.file_path:
            # A call that writes a whole file does not say whether the file existed before.
            change: Change | None = "modify" if edit.old_string else None
            yield FileChanged(path=edit.file_path, change=change, tool_id=id)
    elif name == "write_todos":
        plan = salvage.decode_part(input, _todo_decoder)
        items = plan.todos if plan else None
        if items is not None:
            yield PlanChanged(
                items=tuple(
                    PlanItem(text=item.description, status=item.status)
                    for item in items
                    if item.description
                )
            )
