"""Kimi Code's tools: their kinds, titles of calls, and their changes to files and plan."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import Tools, first_of
from nightrook.model.events import (
    Event,
    FileChanged,
    PlanChanged,
    PlanItem,
    Status,
    ToolKind,
    ToolStarted,
)
from nightrook.model.text import one_line

SUBAGENT = "Agent"
"""The tool that starts a subagent."""

TOOLS = Tools(
    kinds={
        "Bash": "execute",
        "Read": "read",
        "ReadMediaFile": "read",
        "Glob": "search",
        "Grep": "search",
        "Write": "edit",
        "Edit": "edit",
        "WebSearch": "fetch",
        "FetchURL": "fetch",
        SUBAGENT: "subagent",
        "AgentSwarm": "subagent",
        "TodoList": "plan",
        "EnterPlanMode": "plan",
        "ExitPlanMode": "plan",
        "AskUserQuestion": "ask",
        "Skill": "skill",
    },
    titles={
        "execute": ("command",),
        "read": ("path",),
        "edit": ("path",),
        "search": ("pattern", "query"),
        "fetch": ("url", "query"),
        "subagent": ("description", "prompt"),
        "plan": (),
        "skill": ("skill", "name"),
    },
)

# A result has no mark of failure, only the words of the tool (2.1.0 shell_fail,
# file_read_missing; the others from its source).
_FAILED_COMMAND = re.compile(r"\n?Command failed with exit code: (\d{1,10})\.\Z")
_TIMED_OUT = re.compile(r"\n?Command killed by timeout \([^()\n]*\)\Z")
_STOPPED = ("Session closed", "Interrupted by user")
ENDINGS = (*_STOPPED, ".", ")")
"""The ends of all results of failed calls, except those of edits."""

EDITED = ("Replaced ", "Wrote ", "Appended ")
"""The beginnings of the results of successful edits."""

_NOT_READ = re.compile(r'"[^"\n]+" (?:does not exist|is not a file)\.')
_SILENT = "Command executed successfully."  # of a command without output
_LONGEST_ENDING = 200
_LONGEST_TITLE = 1000
_TOO_SHORT = 2 * salvage.DEEPEST_PART  # to be nested too deep
_EXECUTE: ToolKind = "execute"
_FILES = frozenset({"Read", "Edit", "Write"})
_WITHOUT_CONTROLS = bytes(max(code, 32) for code in range(256))

_valid = msgspec.json.Decoder(msgspec.Raw)
_any: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


class _File(msgspec.Struct, gc=False):
    path: str | None = None


class _EditInput(_File, gc=False):
    old_string: str | None = None
    new_string: str | None = None
    content: str | None = None


class _Todo(msgspec.Struct, gc=False):
    title: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: list[_Todo] | None = None


class _Command(msgspec.Struct, gc=False):
    command: str | None = None


_command_decoder = msgspec.json.Decoder(_Command)
_edit_decoder = msgspec.json.Decoder(_EditInput)
_file_decoder = msgspec.json.Decoder(_File)
_todo_decoder = msgspec.json.Decoder(_TodoInput)


class Failure(NamedTuple):
    """The failure of a call, according to its tool's text."""

    status: Status
    text: str
    exit_code: int | None = None


def started(id: str, name: str, arguments: str) -> ToolStarted:
    """The start of a call, whose input is JSON in a string; without one if that was cut off."""
    try:
        data = arguments.encode()
        if name == "Bash":  # as most are
            kind, about = _EXECUTE, _command_decoder.decode(data).command
        elif name in _FILES:
            kind, about = TOOLS.kinds[name], _file_decoder.decode(data).path
        else:
            return _started(id, name, arguments)
    except (ValueError, RecursionError):  # half of a character is a ValueError, too
        return _started(id, name, arguments)
    if not about or data.translate(_WITHOUT_CONTROLS) is not data:
        return _started(id, name, arguments)
    # In ASCII without escapes, a space is the only white space.
    if "\\" in arguments or "  " in about or not about.isascii() or len(about) > _LONGEST_TITLE:
        about = one_line(about, _LONGEST_TITLE)
    input = msgspec.Raw(data.strip()) if len(data) <= _TOO_SHORT else salvage.raw_copy(data)
    return ToolStarted(id=id, name=name, kind=kind, title=about.strip() or None, input=input)


def _started(id: str, name: str, arguments: str) -> ToolStarted:
    """The start of a call that does not name its command or file as most do."""
    data = _json(arguments)
    raw = msgspec.Raw(data) if data else NOTHING
    subagent = first_of(raw, "subagent_type") if name == SUBAGENT else None
    return TOOLS.started(id, name or "tool", raw, subagent=subagent)


def _json(text: str) -> bytes:
    """Valid JSON of a text that should be JSON; nothing if it isn't."""
    data = text.encode("utf-8", "replace").strip()
    try:
        if data.translate(_WITHOUT_CONTROLS) is data:
            _valid.decode(data)
            return data
        # It may contain characters that JSON forbids in strings, but msgspec doesn't look at.
        return msgspec.json.encode(_any.decode(data))
    except (ValueError, RecursionError):
        return b""


def output_of(text: str) -> str | None:
    """The output of a call that succeeded."""
    return None if not text or text == _SILENT else text


def failure_of(call: ToolStarted | None, text: str) -> Failure | None:
    """Return the failure of a call; None if it succeeded."""
    kind = call.kind if call else None
    if kind == "edit":
        return None if text.startswith(EDITED) else _interruption(text) or Failure("error", text)
    if not text.endswith(ENDINGS):
        return None
    if kind == "execute":
        tail = max(0, len(text) - _LONGEST_ENDING)
        if (match := _FAILED_COMMAND.search(text, tail)) is not None:
            return Failure("error", text[: match.start()], int(match[1]))
        if _TIMED_OUT.search(text, tail) is not None:
            return Failure("timed_out", text)
    if kind == "read" and _NOT_READ.fullmatch(text) is not None:
        return Failure("error", text)
    return _interruption(text)


def _interruption(text: str) -> Failure | None:
    is_last = text.rpartition("\n")[2] in _STOPPED
    return Failure("cancelled", text) if is_last else None


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    edit = _edit(started)
    if edit is None:
        return ()
    after = edit.new_string if edit.content is None else edit.content
    return (Replacement(edit.old_string or "", after or ""),) if edit.old_string or after else ()


def changes(call: ToolStarted) -> Sequence[Event]:
    """Return the changes that a successful call made: to a file, or to the plan."""
    if call.input is None:
        return ()
    if call.kind == "edit":
        file = salvage.decode_part(call.input, _file_decoder)
        return (FileChanged(path=file.path, tool_id=call.id),) if file and file.path else ()
    if call.name != "TodoList":
        return ()
    plan = salvage.decode_part(call.input, _todo_decoder)
    if plan is None or plan.todos is None:
        return ()
    items = (PlanItem(text=todo.title or "", status=todo.status) for todo in plan.todos)
    return (PlanChanged(items=tuple(items)),)


def _edit(started: ToolStarted) -> _EditInput | None:
    if started.kind != "edit" or started.input is None:
        return None
    return salvage.decode_part(started.input, _edit_decoder)
