"""Cline's tools: their kinds, titles of calls, their results, and their changes to files."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import Tools, informing_string
from nightrook.agents.cline import shapes
from nightrook.model.events import Event, FileChanged, Status, ToolStarted
from nightrook.model.text import one_line

SUBAGENT = "spawn_agent"
"""The tool that starts a subagent."""

TOOLS = Tools(
    kinds={
        "read_files": "read",
        "search_codebase": "search",
        "editor": "edit",
        "apply_patch": "edit",
        "run_commands": "execute",
        "fetch_web_content": "fetch",
        "web_fetch": "fetch",
        "web_search": "fetch",
        SUBAGENT: "subagent",
        "ask_question": "ask",
        "skills": "skill",
        "submit_and_exit": "other",
        "switch_to_act_mode": "plan",
    },
    titles={"edit": ("path",), "subagent": ("task",), "plan": ()},
    mcp_prefix="",  # SERVER__TOOL
    mcp_separator="__",
)

_LONGEST_TITLE = 1000
_ENDED = re.compile(r"\[Command exited with code (-?\d+)\]\n?")
_UNAPPROVED = " requires approval in a TTY session"
_NOT_EXECUTED = "Command not executed: "
_PLAN_MODE = "blocked in plan mode"
_UNAVAILABLE = "Model tried to call unavailable tool "
_TIMED_OUT = "Command timed out after "
_CREATED = "File created successfully at:"
_ADDED = re.compile(r"\n\+\d+:")  # at least three times as fast as with ^
_REMOVED = re.compile(r"\n-\d+:")


class _File(msgspec.Struct, gc=False):
    path: str | None = None


class _Request(msgspec.Struct, gc=False):
    url: str | None = None


class _Command(msgspec.Struct, gc=False):
    command: str | None = None


class _ListInput(msgspec.Struct, gc=False):
    """The inputs that are lists: one call runs several commands, or reads several files."""

    commands: list[str | _Command] | str | None = None
    files: list[_File] | None = None
    queries: list[str] | str | None = None
    requests: list[_Request] | None = None


class _EditInput(msgspec.Struct, gc=False):
    path: str | None = None
    old_text: str | None = None
    new_text: str | None = None


_list_decoder = msgspec.json.Decoder(_ListInput)
_edit_decoder = msgspec.json.Decoder(_EditInput)
_error_decoder = msgspec.json.Decoder(shapes.Output)
_LISTS: Mapping[str, str] = {
    "run_commands": "commands",
    "read_files": "files",
    "search_codebase": "queries",
    "fetch_web_content": "requests",
}
"""The input field of each tool that takes a list."""


def title(name: str, input: msgspec.Raw) -> str | None:
    """A one-line title for a call whose input is a list; None for any other."""
    field = _LISTS.get(name)
    given = None if field is None or input is NOTHING else salvage.decode_part(input, _list_decoder)
    items = None if given is None or field is None else getattr(given, field)
    if items is None:
        return None if field is None else informing_string(input)
    if len(items) == 1 and type(items[0]) is str and items[0]:
        return one_line(items[0], _LONGEST_TITLE) or None  # as most are
    words = [items] if isinstance(items, str) else [_word(item) for item in items]
    return one_line("; ".join(filter(None, words)), _LONGEST_TITLE) or None


def _word(item: str | _File | _Request | _Command) -> str | None:
    match item:
        case str():
            return item
        case _File():
            return item.path
        case _Request():
            return item.url
        case _Command():
            return item.command


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The text that a call of an editing tool replaces, and its replacement."""
    if started.kind != "edit" or started.input is None:
        return ()
    edit = salvage.decode_part(started.input, _edit_decoder)
    if edit is None or not (edit.old_text or edit.new_text):
        return ()
    return (Replacement(edit.old_text or "", edit.new_text or ""),)


class Result(msgspec.Struct, frozen=True):
    """The status and output of an ended call."""

    text: str | None
    status: Status = "ok"
    exit_code: int | None = None

    @property
    def needs_approval(self) -> bool:
        """True if it was denied because approval was not possible, and not by plan mode."""
        return self.status == "denied" and _UNAPPROVED in (self.text or "")


def plain_output(end: shapes.ContentEnd) -> str | None:
    """Return the output of a call that ended well with one result, as most do; otherwise None."""
    outputs = end.output
    if end.error is not None or type(outputs) is not list or len(outputs) != 1:
        return None
    output = outputs[0]
    if output.success is not True or output.content is not None or not output.result:
        return None
    return None if output.result.startswith("[") else output.result  # may be an exit code


def result(end: shapes.ContentEnd) -> Result:
    """Read the result of a call; a failed command is no error of the call (3.0.65 shell_fail)."""
    if end.error is not None:
        text = _error(end.error)
        return Result(text, "denied" if _is_denied(end.toolName, text) else "error")
    outputs = end.output if isinstance(end.output, list) else [end.output]
    texts, failed, code = list[str](), False, None
    for output in outputs:
        returned, wrong = _output(output)
        failed = failed or wrong
        if returned and (ended := _ENDED.match(returned)):
            code, returned = int(ended[1]), returned[ended.end() :]
        texts += [returned] if returned else []
    whole = "\n".join(texts) or None
    if not failed:
        return Result(whole)
    return Result(whole, "timed_out" if _TIMED_OUT in (whole or "") else "error", code)


def _is_denied(name: str | None, text: str) -> bool:
    """True if a call was not permitted; plan mode hides tools, and refuses commands that write.

    A missing tool that isn't one of Cline's own is an invention of the model (3.0.65 plan).
    """
    if _UNAPPROVED in text or (text.startswith(_NOT_EXECUTED) and _PLAN_MODE in text):
        return True
    return _UNAVAILABLE in text and name in TOOLS.kinds


def _output(output: shapes.Output | str | None) -> tuple[str | None, bool]:
    if not isinstance(output, shapes.Output):
        return output, False
    if output.content is not None:
        said = "\n".join(part.text for part in output.content if part.text)
        return said or None, output.isError is True
    return output.result or output.text or output.error, output.success is False


def _error(error: str) -> str:
    """The words of an error, which may be JSON in a string (3.0.65 perm_denied)."""
    if not error.startswith("{"):
        return error
    inner = salvage.decode_part(error.encode("utf-8", "replace"), _error_decoder)
    return (inner.error if inner else None) or error


def changes(call: ToolStarted, text: str | None) -> Iterator[Event]:
    """The file that a successful call changed."""
    if call.kind != "edit" or call.input is None or text is None:
        return
    edit = salvage.decode_part(call.input, _edit_decoder)
    if edit is None or not edit.path:
        return
    if text.startswith(_CREATED):
        new = edit.new_text or ""
        added = new.count("\n") + (new != "" and not new.endswith("\n"))
        yield FileChanged(path=edit.path, change="add", added=added, removed=0, tool_id=call.id)
    else:
        lines = f"\n{text}"
        yield FileChanged(
            path=edit.path,
            change="modify",
            added=len(_ADDED.findall(lines)),
            removed=len(_REMOVED.findall(lines)),
            tool_id=call.id,
        )
