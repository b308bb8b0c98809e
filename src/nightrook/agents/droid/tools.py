"""Droid's tools: their kinds, titles of calls, and their changes to files and plan."""

import re
from collections.abc import Iterator

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.tools import Tools
from nightrook.model.events import Event, FileChanged, PlanChanged, PlanItem, Status, ToolStarted
from nightrook.model.permissions import PERMIT_ALL, PERMIT_EDITS

SUBAGENT = "Task"
"""The tool that starts a subagent."""

_END_OF_SPEC = "ExitSpecMode"
_FILE = ("file_path", "directory_path", "path", "folder")
TOOLS = Tools(
    kinds={
        "Read": "read",
        "LS": "list",
        "Grep": "search",
        "Glob": "search",
        "ToolSearch": "search",
        "Edit": "edit",
        "ApplyPatch": "edit",
        "Create": "edit",
        "Execute": "execute",
        "Script": "execute",
        "WebSearch": "fetch",
        "FetchUrl": "fetch",
        SUBAGENT: "subagent",
        "TodoWrite": "plan",
        _END_OF_SPEC: "plan",
        "AskUser": "ask",
        "Skill": "skill",
    },
    titles={
        "read": _FILE,
        "edit": _FILE,
        "list": _FILE,
        "search": ("pattern", "query"),
        "execute": ("command",),
        "fetch": ("url", "query"),
        "subagent": ("description", "prompt"),
        "plan": (),
    },
    mcp_prefix="",  # SERVER___TOOL
    mcp_separator="___",
)

_ENDED = re.compile(r"\n*\[Process exited with code (\d+)\]\s*$")
_ENDED_WELL = "[Process exited with code 0]"
_FAILED = re.compile(r"Command failed \(exit code: \d+\)\n")
_TIMED_OUT = "Command timed out after "
_SIGNALLED = "Command terminated by signal"
# A denied call ends the run (0.215.0 exec_denied), unless the tool isn't offered (0.215.0
# perm_denied) or spec mode forbids it (0.215.0 spec).
_ENDED_EARLY = "Exec ended early: "
_NOT_OFFERED = re.compile(r"Tool \S+ is not permitted in this exec session\.")
_SPEC_MODE = "Tool cancelled: Spec mode is active"
# guards: todo-linear
_TODO = re.compile(r"\s*+(?:\d++\.\s*+)?+\[(\w+)\]\s*+(\S.*)")


class _EditInput(msgspec.Struct, gc=False):
    old_str: str | None = None
    new_str: str | None = None
    content: str | None = None


class _Edited(msgspec.Struct, gc=False, rename={"added": "linesAdded", "removed": "linesRemoved"}):
    """The result of an edit, which is JSON in a string."""

    file_path: str | None = None
    added: int | None = None
    removed: int | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: str | None = None


_edit_decoder = msgspec.json.Decoder(_EditInput)
_edited_decoder = msgspec.json.Decoder(_Edited)
_todo_decoder = msgspec.json.Decoder(_TodoInput)


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode_part(started.input, _edit_decoder)
    if edit is None:
        return ()
    after = edit.new_str if edit.content is None else edit.content
    return (Replacement(edit.old_str or "", after or ""),) if edit.old_str or after else ()


def plain_output_of(text: str) -> str | None:
    """The output of a command that ended with 0, as most do; None of any other."""
    return text[: -len(_ENDED_WELL)].rstrip("\n") if text.endswith(_ENDED_WELL) else None


def output_of(text: str) -> tuple[str, int | None]:
    """The output of a command and its exit code, which follows the output."""
    ended = _ENDED.search(text, max(0, len(text) - 80))
    if ended is None:
        return text, None
    failed = _FAILED.match(text)
    return text[failed.end() if failed else 0 : ended.start()], int(ended[1])


def status_of(call: ToolStarted | None, text: str, code: int | None, *, failed: bool) -> Status:
    """Return the status of a call by its result: Droid doesn't call a command's timeout an error.

    Only a command that ended by itself has an exit code. Not being allowed to leave spec mode isn't
    a denial: only a plan was asked for.
    """
    if not failed:
        stopped = call is not None and call.kind == "execute" and code is None
        return "timed_out" if stopped and text.startswith(_TIMED_OUT) else "ok"
    if call is not None and call.name == _END_OF_SPEC:
        return "cancelled"
    if text.startswith((_ENDED_EARLY, _SPEC_MODE)) or _NOT_OFFERED.match(text):
        return "denied"
    return "cancelled" if text.startswith(_SIGNALLED) else "error"


def ends_early(text: str | None) -> bool:
    """True if a run ends because a call was not permitted."""
    return text is not None and text.startswith(_ENDED_EARLY)


def fix_of(call: ToolStarted | None, text: str) -> str | None:
    """Return the option that would allow a denied call; None in spec mode."""
    if text.startswith(_SPEC_MODE):
        return None
    if call is None or text.startswith(_ENDED_EARLY):
        return PERMIT_ALL
    return PERMIT_EDITS if call.kind == "edit" else call.name


def changed_file(call: ToolStarted, value: str) -> FileChanged | None:
    """The file that a successful edit changed; its result is JSON in a string."""
    if not value.startswith("{"):
        return None
    edited = salvage.decode_part(value.encode("utf-8", "replace"), _edited_decoder)
    if edited is None or not edited.file_path:
        return None
    return FileChanged(
        path=edited.file_path,
        change="modify" if call.name == "Edit" else None,
        added=edited.added,
        removed=edited.removed,
        tool_id=call.id,
    )


def changes(call: ToolStarted, value: str) -> Iterator[Event]:
    """Yield the changes that a successful call made: to files or the plan."""
    if call.kind == "edit":
        if (changed := changed_file(call, value)) is not None:
            yield changed
    elif call.name == "TodoWrite" and call.input is not None:
        plan = salvage.decode_part(call.input, _todo_decoder)
        if plan is None or plan.todos is None:
            return
        lines = map(_TODO.fullmatch, plan.todos.split("\n"))
        yield PlanChanged(items=tuple(PlanItem(text=m[2], status=m[1]) for m in lines if m))
