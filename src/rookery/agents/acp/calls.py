"""Tool calls: their names, kinds, titles, output, exit codes and changes to files."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.shapes import NOTHING, ExitCode
from rookery.adapter.titles import first_reader, informing_string
from rookery.agents.acp import shapes
from rookery.agents.acp.dialects import Dialect
from rookery.model.events import Change, FileChanged, ToolKind
from rookery.model.text import one_line

_KINDS: Mapping[str | None, ToolKind] = {
    "read": "read",
    "edit": "edit",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "execute": "execute",
    "think": "think",
    "fetch": "fetch",
    "switch_mode": "plan",
}
_NAMED: Mapping[str, ToolKind] = {
    "shell": "execute",
    "bash": "execute",
    "edit": "edit",
    "write": "edit",
    "task": "subagent",
    "agent": "subagent",
    "delegate": "subagent",
    "invoke_agent": "subagent",
    "todowrite": "plan",
    "todo_write": "plan",
    "todolist": "plan",
    "todo": "plan",
}
"""The kinds of tools whose calls have the kind `other` or `think`, or none."""

_TITLES = ("command", "file_path", "filePath", "path", "url", "pattern", "query", "description")
_OUTPUTS = ("output", "stdout", "content", "text", "message", "error")
_LONGEST_TITLE = 1000
_EMPTY = (b"", b"{}", b"null")
_MOST_COMPARED = 500  # lines; comparing takes the square of that

_title = first_reader(_TITLES)
_raw_text = first_reader(_OUTPUTS)
_string = msgspec.json.Decoder(str)
_object = msgspec.json.Decoder(dict[str, Any])


class _Exit(msgspec.Struct, gc=False):
    exit_code: ExitCode | None = None


class _ShellExit(msgspec.Struct, gc=False, rename="camel"):
    exit_code: ExitCode | None = None


class _Metadata(msgspec.Struct, gc=False):
    exit: ExitCode | None = None


class _Output(msgspec.Struct, gc=False):
    """The raw output of a command, with its exit code as one of the agents writes it."""

    exit_code: ExitCode | None = None
    exit_code_camel: ExitCode | None = msgspec.field(default=None, name="exitCode")
    metadata: _Metadata | None = None
    contents: list[_ShellExit] | None = None


class _Delta(msgspec.Struct, gc=False):
    data: str | None = None


class _Chunk(msgspec.Struct, gc=False):
    output: str | None = None


class _Live(msgspec.Struct, gc=False):
    chunks: list[_Chunk] | None = None


class _Notification(msgspec.Struct, gc=False):
    type: str | None = None
    params: _Live | None = None


class _Terminal(msgspec.Struct, gc=False):
    """What a running command wrote, and how it ended."""

    terminal_output_delta: _Delta | None = None
    terminal_exit: _Exit | None = None
    notification: _Notification | None = msgspec.field(default=None, name="toolNotification")


_output = msgspec.json.Decoder(_Output)
_terminal = msgspec.json.Decoder(_Terminal)


def kind_of(call: shapes.AnyCall, name: str | None = None) -> ToolKind:
    """The kind of a call; that of a well-known tool if the agent reports none."""
    kind = _KINDS.get(call.kind, "other")
    if kind in ("other", "think") and name is not None:
        return _NAMED.get(name.lower(), kind)
    return kind


def title_of(call: shapes.AnyCall) -> str | None:
    """What a call is about: the command, path or other input, or else the agent's own title."""
    text = described(call) or call.title
    return one_line(text, _LONGEST_TITLE) if text else None


def described(call: shapes.AnyCall) -> str | None:
    """What the input or the location of a call says that it is about."""
    raw = call.raw_input
    text = None if bytes(raw) in _EMPTY else _title(raw) or informing_string(raw)
    if text or call.kind == "execute":  # the location of a command is its folder
        return text
    return next((place.path for place in call.locations or () if place.path), None)


def input_of(call: shapes.AnyCall) -> msgspec.Raw | None:
    """The input of a call; None if it has none yet."""
    return None if bytes(call.raw_input) in _EMPTY else salvage.raw_copy(call.raw_input)


def take_input(call: shapes.AnyCall) -> None:
    """Use the content of a call as its input, once it is a whole object (kimi 2.1.0)."""
    text = (output_of(call) or "").strip()
    if bytes(call.raw_input) in _EMPTY and text.startswith("{"):
        try:
            call.raw_input = msgspec.Raw(msgspec.json.encode(_object.decode(text)))
        except (ValueError, RecursionError):
            return  # it is still being written


def name_of(call: shapes.AnyCall, dialect: Dialect | None) -> str | None:
    """The name of the tool, if the call has it where the dialect says."""
    if call.name:
        return call.name
    if dialect is None or not dialect.tool_name:
        return None
    first, *rest = dialect.tool_name
    if first == "title":
        return call.title if isinstance(call, shapes.CallStart) else None
    if first == "toolCallId":
        name, mark, _ = (call.tool_call_id or "").partition("__")
        return name if mark else None
    return path_reader(tuple(rest))(call.meta)


def parent_of(call: shapes.AnyCall, dialect: Dialect | None) -> str | None:
    """The call in which a subagent made this one."""
    if dialect is None or not dialect.parent:
        return None
    return path_reader(dialect.parent[1:])(call.meta)


@cache
def path_reader(path: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that reads the string at a path of nested objects."""
    kind: Any = str
    for key in reversed(path):
        kind = msgspec.defstruct(
            "Holder", [("value", kind | None, None)], rename={"value": key}, gc=False
        )
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)

    def read(raw: msgspec.Raw) -> str | None:
        value = None if raw is NOTHING else salvage.decode_part(raw, decoder)
        for _ in path:
            value = None if value is None else value.value
        return value

    return read


def output_of(call: shapes.AnyCall) -> str | None:
    """What a call reports as text."""
    texts = [part.content.text for part in call.content or () if part.content is not None]
    if any(texts):
        return "\n".join(filter(None, texts))
    raw = bytes(call.raw_output)
    if raw[:1] == b'"':
        return salvage.decode_part(call.raw_output, _string) or None
    return _raw_text(call.raw_output) if raw[:1] == b"{" else None


def exit_code_of(call: shapes.AnyCall) -> int | None:
    """The exit code of a command, if it is reported."""
    if b"exit" in bytes(call.raw_output):
        output = salvage.decode_part(call.raw_output, _output)
        if output is not None:
            codes = [output.exit_code, output.exit_code_camel]
            codes += [output.metadata.exit if output.metadata else None]
            codes += [one.exit_code for one in output.contents or ()]
            return next((code for code in codes if code is not None), None)
    if b"terminal_exit" in bytes(call.meta):
        terminal = salvage.decode_part(call.meta, _terminal) or _Terminal()
        return terminal.terminal_exit.exit_code if terminal.terminal_exit else None
    return None


def live_output_of(call: shapes.AnyCall) -> str | None:
    """What a running command has just written, if it is reported."""
    meta = bytes(call.meta)
    if b"terminal_output_delta" not in meta and b"live_output" not in meta:
        return None
    terminal = salvage.decode_part(call.meta, _terminal) or _Terminal()
    if terminal.terminal_output_delta is not None:
        return terminal.terminal_output_delta.data or None
    live = terminal.notification.params if terminal.notification else None
    return "".join(chunk.output or "" for chunk in (live.chunks if live else None) or ()) or None


def changes_of(call: shapes.AnyCall) -> list[FileChanged]:
    """The changes to files that a call reports."""
    return [_change(part, call.tool_call_id) for part in call.content or () if part.type == "diff"]


def _change(part: shapes.Part, id: str | None) -> FileChanged:
    change: Change = "modify" if part.old_text is not None else "add"
    removed, added = _counts(part.old_text or "", part.new_text or "")
    return FileChanged(
        path=part.path or "", change=change, added=added, removed=removed, tool_id=id
    )


def changed_lines(part: shapes.Part) -> Iterator[str]:
    """The lines that a change removes and adds, each with its sign."""
    before, after = _differing((part.old_text or ""), (part.new_text or ""))
    yield from (f"-{line}" for line in before)
    yield from (f"+{line}" for line in after)


def _counts(before: str, after: str) -> tuple[int, int]:
    """How many lines a change removes and adds."""
    old, new = _differing(before, after)
    if min(len(old), len(new)) <= 1 or max(len(old), len(new)) > _MOST_COMPARED:
        if min(len(old), len(new)) <= 1:
            return len(old), len(new)
        removed, added = Counter(old), Counter(new)
        return (removed - added).total(), (added - removed).total()
    from difflib import SequenceMatcher  # only a change in several places needs it

    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same = sum(block.size for block in blocks)
    return len(old) - same, len(new) - same


def _differing(before: str, after: str) -> tuple[Sequence[str], Sequence[str]]:
    """The lines of two texts without those that both begin and end with."""
    old, new = _lines(before), _lines(after)
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]


def _lines(text: str) -> Sequence[str]:
    return text.removesuffix("\n").split("\n") if text else ()
