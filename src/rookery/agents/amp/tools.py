"""Amp's tools: what kind each is, a title for a call, and what it did to files and plan."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from rookery.core import salvage
from rookery.core.events import Change, Event, FileChanged, PlanChanged, PlanItem, ToolKind
from rookery.core.titles import first_field, first_short_string

KINDS: Mapping[str, ToolKind] = {
    "Read": "read",
    "look_at": "read",
    "read_mcp_resource": "read",
    "read_thread": "read",
    "list_directory": "list",
    "glob": "search",
    "Grep": "search",
    "finder": "search",
    "find_thread": "search",
    "create_file": "edit",
    "edit_file": "edit",
    "undo_edit": "edit",
    "Bash": "execute",
    "read_web_page": "fetch",
    "web_search": "fetch",
    "Task": "subagent",
    "oracle": "subagent",
    "librarian": "subagent",
    "todo_write": "plan",
    "todo_read": "plan",
    "task_list": "plan",
    "skill": "skill",
}
"""The kind of each tool that documents and captures of others name; any other is `other`."""

TELLING = frozenset({"edit", "plan"})
"""The kinds of tools whose calls change files or the plan."""


class _FileInput(msgspec.Struct, gc=False):
    path: str | None = None


class _CommandInput(msgspec.Struct, gc=False):
    cmd: str | None = None
    command: str | None = None


class _Todo(msgspec.Struct, gc=False):
    content: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: list[_Todo] | None = None


_file_decoder = msgspec.json.Decoder(_FileInput)
_todo_decoder = msgspec.json.Decoder(_TodoInput)
_DECODERS: Mapping[ToolKind, msgspec.json.Decoder[Any]] = {
    "read": _file_decoder,
    "edit": _file_decoder,
    "list": _file_decoder,
    "execute": msgspec.json.Decoder(_CommandInput),
}
_CHANGES: Mapping[str, Change | None] = {"edit_file": "modify", "create_file": None}
"""The tools that change a file; who creates one does not say whether there was one before."""


def kind(name: str) -> ToolKind:
    """Say what kind of tool it is."""
    return KINDS.get(name, "other")


def title(kind: ToolKind, input: msgspec.Raw | None) -> str | None:
    """Say in one line what a call is about: its path, its command, or its first short string."""
    if input is None or kind == "plan":
        return None
    decoder = _DECODERS.get(kind)
    return (first_field(input, decoder) if decoder else None) or first_short_string(input)


def consequences(name: str, id: str, input: msgspec.Raw | None) -> Iterator[Event]:
    """What a call that worked did to files and plan, as its input tells."""
    if input is None:
        return
    if name in _CHANGES:
        file = salvage.decode(input, _file_decoder)
        if file is not None and file.path:
            yield FileChanged(path=file.path, change=_CHANGES[name], tool_id=id)
    elif name == "todo_write":
        plan = salvage.decode(input, _todo_decoder)
        items = plan.todos if plan else None
        if items is not None:
            steps = (PlanItem(text=i.content, status=i.status) for i in items if i.content)
            yield PlanChanged(items=tuple(steps))
