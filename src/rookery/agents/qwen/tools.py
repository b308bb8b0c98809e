"""Qwen Code's tools: what kind each is, a title for a call, and what a result tells."""

import re
from collections.abc import Iterator

import msgspec

from rookery.core import salvage
from rookery.core.agent import PERMIT_ALL, PERMIT_EDITS, Replacement
from rookery.core.events import (
    Change,
    Event,
    FileChanged,
    PlanChanged,
    PlanItem,
    Status,
    ToolKind,
    ToolStarted,
)
from rookery.core.shapes import NOTHING
from rookery.core.text import one_line
from rookery.core.titles import first_of
from rookery.core.tools import Tools

_FILE = ("file_path", "path")
TOOLS = Tools(
    kinds={
        "read_file": "read",
        "list_directory": "list",
        "glob": "search",
        "grep_search": "search",
        "lsp": "search",
        "tool_search": "search",
        "edit": "edit",
        "write_file": "edit",
        "run_shell_command": "execute",
        "monitor": "execute",
        "task_stop": "execute",
        "web_fetch": "fetch",
        "agent": "subagent",
        "send_message": "subagent",
        "todo_write": "plan",
        "exit_plan_mode": "plan",
        "ask_user_question": "ask",
        "skill": "skill",
    },
    titles={
        "read": _FILE,
        "edit": _FILE,
        "list": _FILE,
        "search": ("pattern", "query"),
        "execute": ("command", "task_id"),
        "fetch": ("url",),
        "subagent": ("description", "message", "subagent_type"),
        "plan": (),
    },
)

# What a refused call says (0.15.10 perm_denied, allowed_tool); the result lists all of them.
_DENIED = re.compile(
    r'Qwen Code requires permission to use "?[^"\n]+"?, but that permission was '
    r'|Tool "[^"\n]+" is denied by permission rules\.'
)

# What the calls say that a signal cut off (0.15.10 sigterm_tool).
_CANCELLED = "[Operation Cancelled] "

# A command that wrote nothing is told with how it ended, one that wrote something is not
# (0.15.10 shell_silent, unicode).
_FAILED = re.compile(r"Command exited with code: (\d{1,9})")
_ENDED = re.compile(
    r"Command: .*\nOutput: \(empty\)\n.*^Exit Code: (\d{1,9})\n.*", re.DOTALL | re.M
)
_CREATED = "Successfully created and wrote to new file: "
TELLING = frozenset({"edit", "plan"})
"""The kinds of tools whose calls change files or the plan."""

_LONGEST_TITLE = 1000


class _Question(msgspec.Struct, gc=False):
    question: str | None = None


class _AskInput(msgspec.Struct, gc=False):
    questions: list[_Question] | None = None


class _EditInput(msgspec.Struct, gc=False):
    file_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    content: str | None = None


class _Todo(msgspec.Struct, gc=False):
    content: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: list[_Todo] | None = None


_ask_decoder = msgspec.json.Decoder(_AskInput)
_edit_decoder = msgspec.json.Decoder(_EditInput)
_todo_decoder = msgspec.json.Decoder(_TodoInput)


def question(kind: ToolKind, input: msgspec.Raw) -> str | None:
    """The first question that a call asks, on one line."""
    if kind != "ask" or input is NOTHING:
        return None
    asked = salvage.decode(input, _ask_decoder)
    words = [item.question for item in asked.questions or ()] if asked else []
    return one_line(words[0], _LONGEST_TITLE) if words and words[0] else None


def failure(content: str | None) -> Status:
    """How a call failed, by the exact words that the program puts into its result."""
    if content is None:
        return "error"
    if content.startswith(_CANCELLED):
        return "cancelled"
    return "denied" if _DENIED.match(content) else "error"


def fix(name: str) -> str:
    """What lets a denied call of a tool pass.

    A rule does not for edits, nor for a command that writes a file: which commands those are, only
    the program can tell (0.15.10).
    """
    kind = TOOLS.kind(name)
    return PERMIT_EDITS if kind == "edit" else PERMIT_ALL if kind == "execute" else name


def exit_code(kind: ToolKind, content: str | None) -> int | None:
    """How a command ended, where its result says so."""
    if kind != "execute" or content is None:
        return None
    found = _FAILED.fullmatch(content) or _ENDED.fullmatch(content)
    return int(found[1]) if found else None


def subagent(kind: ToolKind, input: msgspec.Raw) -> str | None:
    """What kind of subagent a call asks for."""
    return first_of(input, "subagent_type") if kind == "subagent" else None


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool puts in place of another."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode(started.input, _edit_decoder)
    if edit is None:
        return ()
    after = edit.new_string if edit.content is None else edit.content
    return (Replacement(edit.old_string or "", after or ""),) if edit.old_string or after else ()


def consequences(
    name: str, id: str, input: msgspec.Raw | None, content: str | None
) -> Iterator[Event]:
    """What a call that worked did to files and plan."""
    if input is None:
        return
    if TOOLS.kind(name) == "edit":
        edit = salvage.decode(input, _edit_decoder)
        if edit is not None and edit.file_path:
            yield _changed(name, id, edit, content or "")
    elif name == "todo_write":
        plan = salvage.decode(input, _todo_decoder)
        items = plan.todos if plan else None
        if items is not None:
            yield PlanChanged(
                items=tuple(
                    PlanItem(text=item.content, status=item.status)
                    for item in items
                    if item.content
                )
            )


def _changed(name: str, id: str, edit: _EditInput, content: str) -> FileChanged:
    path, text = edit.file_path or "", edit.content
    if name == "write_file" and content.startswith(_CREATED) and text is not None:
        added = text.count("\n") + (text != "" and not text.endswith("\n"))
        return FileChanged(path=path, change="add", added=added, removed=0, tool_id=id)
    # Of a file that was written whole nobody says what had been there.
    change: Change | None = "modify" if name == "edit" else None
    return FileChanged(path=path, change=change, tool_id=id)
