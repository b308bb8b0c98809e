"""Gemini CLI's tools: what kind each is, a title for a call, and what it did to files and plan."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from rookery.core import salvage
from rookery.core.agent import Replacement
from rookery.core.events import (
    Change,
    Event,
    FileChanged,
    PlanChanged,
    PlanItem,
    ToolKind,
    ToolStarted,
)
from rookery.core.shapes import NOTHING
from rookery.core.titles import first_field, first_short_string

KINDS: Mapping[str, ToolKind] = {
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
    "invoke_agent": "subagent",
    "write_todos": "plan",
    "enter_plan_mode": "plan",
    "exit_plan_mode": "plan",
    "ask_user": "ask",
    "activate_skill": "skill",
    "save_memory": "other",
    "update_topic": "other",
}
"""The kind of each built-in tool; any other is `other`."""

TELLING = frozenset({"edit", "plan"})
"""The kinds of tools whose calls change files or the plan."""


class _Input(msgspec.Struct, gc=False):
    """The inputs that make a title, the best first; bulky ones (a file's content) are skipped."""


class _FileInput(_Input):
    file_path: str | None = None
    dir_path: str | None = None
    path: str | None = None


class _SearchInput(_Input):
    pattern: str | None = None


class _CommandInput(_Input):
    command: str | None = None


class _WebInput(_Input):
    query: str | None = None
    url: str | None = None
    prompt: str | None = None


class _SubagentInput(_Input):
    prompt: str | None = None
    agent_name: str | None = None


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


_file_decoder = msgspec.json.Decoder(_FileInput)
_subagent_decoder = msgspec.json.Decoder(_SubagentInput)
_edit_decoder = msgspec.json.Decoder(_EditInput)
_todo_decoder = msgspec.json.Decoder(_TodoInput)
_DECODERS: Mapping[ToolKind, msgspec.json.Decoder[Any]] = {
    "read": _file_decoder,
    "edit": _file_decoder,
    "list": _file_decoder,
    "search": msgspec.json.Decoder(_SearchInput),
    "execute": msgspec.json.Decoder(_CommandInput),
    "fetch": msgspec.json.Decoder(_WebInput),
    "subagent": _subagent_decoder,
}


def kind(name: str) -> ToolKind:
    """Say what kind of tool it is."""
    return KINDS.get(name, "other")


def title(kind: ToolKind, input: msgspec.Raw) -> str | None:
    """Say in one line what a call is about: its path, command, pattern, address."""
    if input is NOTHING or kind == "plan":
        return None
    decoder = _DECODERS.get(kind)
    return first_short_string(input) if decoder is None else first_field(input, decoder)


def subagent(kind: ToolKind, input: msgspec.Raw) -> str | None:
    """What kind of subagent a call asks for."""
    if kind != "subagent" or input is NOTHING:
        return None
    known = salvage.decode(input, _subagent_decoder)
    return (known.agent_name or None) if known else None


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool puts in place of another."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode(started.input, _edit_decoder)
    if edit is None:
        return ()
    after = edit.new_string if edit.content is None else edit.content
    return (Replacement(edit.old_string or "", after or ""),) if edit.old_string or after else ()


def consequences(name: str, id: str, input: msgspec.Raw | None) -> Iterator[Event]:
    """What a call that worked did to files and plan, as its input tells: its result does not."""
    if input is None:
        return
    if kind(name) == "edit":
        edit = salvage.decode(input, _edit_decoder)
        if edit is not None and edit.file_path:
            # Who writes a whole file does not say whether there was one before.
            change: Change | None = "modify" if edit.old_string else None
            yield FileChanged(path=edit.file_path, change=change, tool_id=id)
    elif name == "write_todos":
        plan = salvage.decode(input, _todo_decoder)
        items = plan.todos if plan else None
        if items is not None:
            yield PlanChanged(
                items=tuple(
                    PlanItem(text=item.description, status=item.status)
                    for item in items
                    if item.description
                )
            )
