"""Qwen Code's tools: their kinds, titles of calls, and how to read their results."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import Tools, first_of
from nightrook.model.events import (
    Change,
    Event,
    FileChanged,
    PlanChanged,
    PlanItem,
    Status,
    ToolStarted,
)
from nightrook.model.permissions import PERMIT_ALL, PERMIT_EDITS
from nightrook.model.text import one_line

_FILE = ("file_path", "path", "notebook_path")
TOOLS = Tools(
    kinds={
        "read_file": "read",
        "zoom_image": "read",
        "read_mcp_resource": "read",
        "list_directory": "list",
        "glob": "search",
        "grep_search": "search",
        "lsp": "search",
        "tool_search": "search",
        "web_search": "search",
        "edit": "edit",
        "write_file": "edit",
        "notebook_edit": "edit",
        "exec": "execute",
        "run_shell_command": "execute",
        "monitor": "execute",
        "task_stop": "execute",
        "web_fetch": "fetch",
        "agent": "subagent",
        "send_message": "subagent",
        "workflow": "subagent",
        "create_sub_session": "subagent",
        "todo_write": "plan",
        "task_create": "plan",
        "task_update": "plan",
        "task_list": "plan",
        "enter_plan_mode": "plan",
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

# The results of refused calls (0.15.10 perm_denied, allowed_tool; 0.24.4 perm_denied, deny_rule,
# auto_mode_blocks; the rest is from the source of 0.24.4); the result message lists all of them.
_DENIED = re.compile(
    r'(?:\[tool_call bridge refused\] )?Qwen Code requires permission to use "?[^"\n]+"?, '
    r"but that permission was "
    r'|Tool "[^"\n]+" is denied(?: by permission rules\.|: the tool\'s default permission is )'
    r'|This "[^"\n]+" invocation was denied by permission rules\.'
    r"|Blocked by auto mode policy: "
    r'|Tool blocked by plan mode: "[^"\n]+" is not a read-only tool\.'
)

# A rule that forbids a call applies in every mode (0.24.4 deny_rule).
_FORBIDDEN = re.compile(r'This "[^"\n]+" invocation was denied by permission rules\.')

# The results of calls that a signal interrupted (0.15.10 sigterm_tool), or that belong to an
# answer that was retried (0.24.4 retry_discards_calls).
_CANCELLED = (
    "[Operation Cancelled] ",
    "Skipped because the provider attempt was retried before execution.",
)
_TIMED_OUT = re.compile(r"Command timed out after \d{1,15}ms before it could complete\.")

# How a command ended follows its output if it failed (0.24.4 shell_fail) or wrote nothing (0.15.10
# shell_silent, unicode).
_FAILED = re.compile(r"Command exited with code: (\d{1,9})")
_END, _LONGEST_END = "\nExit Code: ", 4096
_ENDED = re.compile(r"(\d{1,9}|\(none\))\nSignal: (\S{1,20})\nProcess Group PGID: .*", re.DOTALL)
_CREATED = "Successfully created and wrote to new file: "
CHANGING = frozenset({"edit", "plan"})
"""The kinds of tools that change files or the plan."""

DEFERRED = "tool_call"
"""The tool that calls a tool whose description was loaded on demand (0.24.4 deferred_tool)."""

_LONGEST_TITLE = 1000


class _Question(msgspec.Struct, gc=False):
    question: str | None = None


class _AskInput(msgspec.Struct, gc=False):
    questions: list[_Question] | None = None


class _DeferredInput(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class _EditInput(msgspec.Struct, gc=False):
    file_path: str | None = None
    notebook_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    content: str | None = None


class _Todo(msgspec.Struct, gc=False):
    content: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, gc=False):
    todos: list[_Todo] | None = None


_ask_decoder = msgspec.json.Decoder(_AskInput)
_deferred_decoder = msgspec.json.Decoder(_DeferredInput)
_edit_decoder = msgspec.json.Decoder(_EditInput)
_todo_decoder = msgspec.json.Decoder(_TodoInput)


def question(input: msgspec.Raw) -> str | None:
    """The first question that a call asks, on one line."""
    if input is NOTHING:
        return None
    asked = salvage.decode_part(input, _ask_decoder)
    questions = [item.question for item in asked.questions or ()] if asked else []
    return one_line(questions[0], _LONGEST_TITLE) if questions and questions[0] else None


class Shell(NamedTuple):
    """The output of a command and its exit code; None if it is not reported."""

    output: str | None
    exit_code: int | None = None


def deferred(input: msgspec.Raw) -> tuple[str, msgspec.Raw]:
    """The tool that a call of `tool_call` runs, and its input."""
    target = None if input is NOTHING else salvage.decode_part(input, _deferred_decoder)
    if target is None or not target.name or not bytes(target.arguments).startswith(b"{"):
        return DEFERRED, input
    return target.name, target.arguments


def failure(content: str | None) -> Status:
    """Return the status of a failed call, by the exact text of its result."""
    if content is None:
        return "error"
    if content.startswith(_CANCELLED):
        return "cancelled"
    if _TIMED_OUT.match(content):
        return "timed_out"
    return "denied" if _DENIED.match(content) else "error"


def fix(name: str, reason: str | None) -> str | None:
    """Return the option that would allow a denied call; None if a rule of the user's forbids it.

    A rule allows neither edits nor commands that write a file, and only Qwen Code knows which
    commands those are (0.15.10).
    """
    if reason is not None and _FORBIDDEN.match(reason):
        return None
    kind = TOOLS.kind(name)
    return PERMIT_EDITS if kind == "edit" else PERMIT_ALL if kind == "execute" else name


def shell(content: str, *, failed: bool) -> Shell:
    """Read a command's result: its output alone, or a report with output and exit code.

    The result of a successful command is a report only if the command wrote nothing; otherwise it
    is the output, even if that looks like a report.
    """
    if match := _FAILED.fullmatch(content):
        return Shell(content, int(match[1]))
    if _END not in content[-_LONGEST_END:]:  # avoids searching a long output
        return Shell(content)
    head, _, tail = content.rpartition(_END)
    match = _ENDED.fullmatch(tail)
    command, _, written = head.partition("\nOutput: ")
    output, _, error = written.rpartition("\nError: ")
    if match is None or "Command: " not in command or (not failed and output != "(empty)"):
        return Shell(content)
    code, signal = match.groups()
    if output == "(empty)":
        output = "" if error == "(none)" else error
    if signal not in ("(none)", "0"):
        output = f"Command terminated by signal: {signal}\n{output}".rstrip("\n")
    return Shell(output or None, None if code == "(none)" else int(code))


def subagent(input: msgspec.Raw) -> str | None:
    """The type of subagent that a call starts."""
    return first_of(input, "subagent_type")


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode_part(started.input, _edit_decoder)
    if edit is None:
        return ()
    after = edit.new_string if edit.content is None else edit.content
    return (Replacement(edit.old_string or "", after or ""),) if edit.old_string or after else ()


def changes(name: str, id: str, input: msgspec.Raw | None, content: str | None) -> Iterator[Event]:
    """Yield the changes that a successful call made: to files or the plan."""
    if input is None:
        return
    if TOOLS.kind(name) == "edit":
        edit = salvage.decode_part(input, _edit_decoder)
        if edit is not None and (edit.file_path or edit.notebook_path):
            yield _changed(name, id, edit, content or "")
    elif name == "todo_write":
        plan = salvage.decode_part(input, _todo_decoder)
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
    path, text = edit.file_path or edit.notebook_path or "", edit.content
    if name == "write_file" and content.startswith(_CREATED) and text is not None:
        added = text.count("\n") + (text != "" and not text.endswith("\n"))
        return FileChanged(path=path, change="add", added=added, removed=0, tool_id=id)
    # For a file that was written as a whole, its previous content is not reported.
    change: Change | None = None if name == "write_file" else "modify"
    return FileChanged(path=path, change=change, tool_id=id)
