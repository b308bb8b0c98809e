"""Goose's tools: their kinds, titles of calls, and their changes to files."""

import re
from collections.abc import Iterator

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.tools import Tools
from nightrook.model.events import Change, FileChanged, ToolStarted

TOOLS = Tools(
    kinds={
        "shell": "execute",
        "write": "edit",
        "edit": "edit",
        "tree": "list",
        "analyze": "read",
        "read_image": "read",
        "delegate": "subagent",
        "load": "skill",
        "load_skill": "skill",
    },
    titles={
        "execute": ("command",),
        "edit": ("path",),
        "list": ("path",),
        "read": ("path", "source"),
        "subagent": ("instructions", "source"),
        "skill": ("source", "name"),
    },
    mcp_prefix="",  # a tool of an extension is called EXTENSION__TOOL
)

_EDITED = re.compile(r"Edited .+ \((\d{1,9}) lines -> (\d{1,9}) lines\)", re.DOTALL)
_CREATED = re.compile(r"Created .+ \((\d{1,9}) lines\)", re.DOTALL)
_UNKNOWN = re.compile(r"Tool '([^']+)' ")


class _EditInput(msgspec.Struct, gc=False):
    path: str | None = None
    before: str | None = None
    after: str | None = None
    content: str | None = None


_edit_decoder = msgspec.json.Decoder(_EditInput)


def unknown_tool(error: str | None) -> str:
    """The name of a tool that the model invented, which only the error message contains."""
    match = _UNKNOWN.search(error or "")
    return match[1] if match else "tool"


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    edit = _edit(started)
    if edit is None:
        return ()
    after = edit.after if edit.content is None else edit.content
    return (Replacement(edit.before or "", after or ""),) if edit.before or after else ()


def changes(started: ToolStarted, output: str) -> Iterator[FileChanged]:
    """Yield the file that a successful edit changed; its output counts the lines."""
    edit = _edit(started)
    if edit is None or not edit.path:
        return
    added, removed = _line_counts(output)
    change: Change = "add" if output.startswith("Created ") else "modify"
    yield FileChanged(
        path=edit.path, change=change, added=added, removed=removed, tool_id=started.id
    )


def _line_counts(output: str) -> tuple[int | None, int | None]:
    """Return the numbers of lines that a call added and removed, according to its output."""
    if (match := _EDITED.fullmatch(output)) is not None:
        return int(match[2]), int(match[1])
    if (match := _CREATED.fullmatch(output)) is not None:
        return int(match[1]), 0
    return None, None


def _edit(started: ToolStarted) -> _EditInput | None:
    if started.kind != "edit" or started.input is None:
        return None
    return salvage.decode_part(started.input, _edit_decoder)
