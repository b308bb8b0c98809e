"""Amp's tools: their kinds, titles of calls, and their changes to files and plan."""

from collections.abc import Iterator, Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.tools import Tools, first_of
from nightrook.model.events import Change, Event, FileChanged, PlanChanged, PlanItem

TOOLS = Tools(
    kinds={
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
    },
    titles={
        "read": ("path",),
        "edit": ("path",),
        "list": ("path",),
        "execute": ("cmd", "command"),
        "plan": (),
    },
)
"""Its tools, as named in its documentation and in published recordings."""

CHANGING = frozenset({"edit", "plan"})
"""The kinds of tools that change files or the plan."""


class _Todo(msgspec.Struct, gc=False):
    content: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: list[_Todo] | None = None


_todo_decoder = msgspec.json.Decoder(_TodoInput)

_CHANGES: Mapping[str, Change | None] = {"edit_file": "modify", "create_file": None}
"""The tools that change a file; `create_file` does not say whether the file existed before."""


def changes(name: str, id: str, input: msgspec.Raw | None) -> Iterator[Event]:
    """Yield the changes that a successful call made, according to its input."""
    if input is None:
        return
    if name in _CHANGES:
        path = first_of(input, "path")
        if path is not None:
            yield FileChanged(path=path, change=_CHANGES[name], tool_id=id)
    elif name == "todo_write":
        plan = salvage.decode_part(input, _todo_decoder)
        items = plan.todos if plan else None
        if items is not None:
            steps = (PlanItem(text=i.content, status=i.status) for i in items if i.content)
            yield PlanChanged(items=tuple(steps))
