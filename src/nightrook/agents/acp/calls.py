"""Tool calls: their names, kinds, titles, output, exit codes and changes to files."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING, ExitCode
from nightrook.adapter.tools import first_reader, informing_string
from nightrook.agents.acp import shapes
from nightrook.agents.acp.dialects import Dialect
from nightrook.model.events import Change, FileChanged, ToolKind
from nightrook.model.text import one_line

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
_LONGEST_EMPTY = 4
_MOST_COMPARED = 500  # lines; comparing takes the square of that

Read = Callable[[shapes.AnyCall], str | None]
"""Reads a string of a call."""

_title = first_reader(_TITLES)
_raw_text = first_reader(_OUTPUTS)
_string = msgspec.json.Decoder(str)
_locations = msgspec.json.Decoder(list[shapes.Location] | None)
_parts = msgspec.json.Decoder(list[shapes.Part] | None)
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
    """The output of a running command, and its exit."""

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


def one_title(text: str | None) -> str | None:
    """Return the title of a call, on one line."""
    return one_line(text, _LONGEST_TITLE) if text else None


def described(call: shapes.AnyCall) -> str | None:
    """Return the title of a call that its input or its location suggests."""
    raw = call.raw_input
    text = None if _is_empty(raw) else _title(raw)
    if text or call.kind == "execute":  # the location of a command is its folder
        return text
    if not _is_empty(raw) and (text := informing_string(raw)):
        return text
    return next(iter(places_of(call)), None)


def places_of(call: shapes.AnyCall) -> list[str]:
    """The files that a call is about."""
    if call.locations is NOTHING:
        return []
    places = salvage.decode_part(call.locations, _locations) or ()
    return [place.path for place in places if place.path]


def parts_of(call: shapes.AnyCall) -> list[shapes.Part]:
    """Return the parts of a call's content: texts and changes to files."""
    if call.content is NOTHING:
        return []
    return salvage.decode_part(call.content, _parts) or []


def runs(call: shapes.AnyCall, *, is_first: bool) -> bool:
    """True if a call runs, so that no more will be reported about it before it ends."""
    if call.status != "in_progress":
        return False
    return (is_first and call.title is not None) or not _is_empty(call.raw_input)


def input_of(call: shapes.AnyCall) -> msgspec.Raw | None:
    """The input of a call; None if it has none yet."""
    return None if _is_empty(call.raw_input) else salvage.raw_copy(call.raw_input)


def _is_empty(raw: msgspec.Raw) -> bool:
    return raw is NOTHING or (memoryview(raw).nbytes <= _LONGEST_EMPTY and bytes(raw) in _EMPTY)


def take_input(call: shapes.AnyCall) -> None:
    """Use the content of a call as its input, once it is a whole object (kimi 2.1.0)."""
    text = (output_of(call, parts_of(call)) or "").strip()
    if _is_empty(call.raw_input) and text.startswith("{"):
        try:
            call.raw_input = msgspec.Raw(msgspec.json.encode(_object.decode(text)))
        except (ValueError, RecursionError):
            return  # it is still being written


def name_reader(dialect: Dialect | None) -> Read:
    """Return a function that reads the name of a call's tool where the dialect says."""
    first, *rest = dialect.tool_name if dialect and dialect.tool_name else ("",)
    if first == "title":
        return lambda call: call.title if isinstance(call, shapes.CallStart) else None
    if first == "toolCallId":
        return _name_in_id
    return _reader_of(rest)


def parent_reader(dialect: Dialect | None) -> Read:
    """Return a function that reads the call in which a subagent made another one."""
    return _reader_of(dialect.parent[1:] if dialect else ())


def _name_in_id(call: shapes.AnyCall) -> str | None:
    name, mark, _ = (call.tool_call_id or "").partition("__")
    return name if mark else None


def _nothing(call: shapes.AnyCall) -> str | None:
    return None


def _reader_of(path: Sequence[str]) -> Read:
    if not path:
        return _nothing
    read = path_reader(tuple(path))
    return lambda call: None if call.meta is NOTHING else read(call.meta)


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
        value = salvage.decode_part(raw, decoder)
        for _ in path:
            value = None if value is None else value.value
        return value

    return read


def output_of(call: shapes.AnyCall, parts: Sequence[shapes.Part]) -> str | None:
    """Return the text that a call reports."""
    texts = [part.content.text for part in parts if part.content and part.content.text]
    if texts:
        return "\n".join(texts)
    first = _first_byte(call.raw_output)
    if first == b'"':
        return salvage.decode_part(call.raw_output, _string) or None
    return _raw_text(call.raw_output) if first == b"{" else None


def _first_byte(raw: msgspec.Raw) -> bytes:
    return bytes(memoryview(raw)[:1])  # without a copy of all the others


def exit_code_of(call: shapes.AnyCall) -> int | None:
    """The exit code of a command, if it is reported."""
    if _first_byte(call.raw_output) == b"{":
        found = salvage.decode_part(call.raw_output, _output) or _Output()
        if found.exit_code is not None:
            return found.exit_code
        if found.metadata is not None:
            return found.metadata.exit
        if found.exit_code_camel is not None:
            return found.exit_code_camel
        for part in found.contents or ():
            if part.exit_code is not None:
                return part.exit_code
    if call.meta is not NOTHING and b"terminal_exit" in bytes(call.meta):
        terminal = salvage.decode_part(call.meta, _terminal) or _Terminal()
        return terminal.terminal_exit.exit_code if terminal.terminal_exit else None
    return None


def live_output_of(call: shapes.AnyCall) -> str | None:
    """Return the new output of a running command, if it is reported."""
    meta = bytes(call.meta)
    if b"terminal_output_delta" not in meta and b"live_output" not in meta:
        return None
    terminal = salvage.decode_part(call.meta, _terminal) or _Terminal()
    if terminal.terminal_output_delta is not None:
        return terminal.terminal_output_delta.data or None
    live = terminal.notification.params if terminal.notification else None
    return "".join(chunk.output or "" for chunk in (live.chunks if live else None) or ()) or None


def may_change_files(call: shapes.AnyCall) -> bool:
    """True if the parts of a call can have a change to a file."""
    return call.content is not NOTHING and b'"diff"' in bytes(call.content)


def changes_of(
    parts: Sequence[shapes.Part], id: str | None, *, is_whole: bool
) -> list[FileChanged]:
    """The changes to files among the parts of a call, which may be only some of its text."""
    changed = _change if is_whole else _cut_change
    return [changed(part, id) for part in parts if part.type == "diff"]


def _change(part: shapes.Part, id: str | None) -> FileChanged:
    change: Change = "modify" if part.old_text is not None else "add"
    removed, added = _counts(part.old_text or "", part.new_text or "")
    return FileChanged(
        path=part.path or "", change=change, added=added, removed=removed, tool_id=id
    )


def _cut_change(part: shapes.Part, id: str | None) -> FileChanged:
    """A change of which a part is left out: its number of lines is not known."""
    change: Change | None = "modify" if part.old_text is not None else None
    return FileChanged(path=part.path or "", change=change, tool_id=id)


def changed_lines(part: shapes.Part) -> Iterator[str]:
    """The lines that a change removes and adds, each with its sign."""
    before, after = _differing((part.old_text or ""), (part.new_text or ""))
    yield from (f"-{line}" for line in before)
    yield from (f"+{line}" for line in after)


def _counts(before: str, after: str) -> tuple[int, int]:
    """Return the number of lines that a change removes, and that it adds."""
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
