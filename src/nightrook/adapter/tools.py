"""The tools of an agent: their kinds, MCP servers and the titles of calls."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import astuple

from nightrook.adapter.salvage import decode_part, raw_copy
from nightrook.adapter.shapes import NOTHING
from nightrook.model.events import ToolKind, ToolStarted
from nightrook.model.text import one_line

_LONGEST = 200  # a string of an unknown tool that makes a good title is short
# guards: title-cut
_LONGEST_KNOWN = 1000  # a field of a known tool may be longer

_INFORMING = frozenset(
    {
        *("file_path", "path", "filename", "file", "notebook_path", "dir", "directory", "uri"),
        *("url", "command", "cmd", "pattern", "query", "search", "regex", "question", "prompt"),
        *("description", "subject", "title", "name", "message", "text", "summary", "skill"),
        *("task", "tool", "cron", "schedule", "key", "id"),
    }
)
"""The fields that say what a call of an unknown tool is about."""

_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


class Tools:
    """The tools of an agent.

    `kinds` has the kind of each built-in tool; any other is `other`. `titles` has the input fields
    that make the title of a call, best first; an empty tuple means no title. The name of an MCP
    server's tool begins with `mcp_prefix`; then follow server, `mcp_separator` and tool.
    """

    def __init__(
        self,
        *,
        kinds: Mapping[str, ToolKind],
        titles: Mapping[ToolKind, tuple[str, ...]] | None = None,
        mcp_prefix: str = "mcp__",
        mcp_separator: str = "__",
    ) -> None:
        self.kinds = kinds
        self._titles = titles or {}
        self._mcp_prefix = mcp_prefix
        self._mcp_separator = mcp_separator
        self._title_readers: dict[ToolKind, Callable[[msgspec.Raw], str | None]] = {}

    def kind(self, name: str) -> ToolKind:
        """Return the kind of a tool."""
        return self.kinds.get(name, "other")

    def title(self, kind: ToolKind, input: msgspec.Raw) -> str | None:
        """Return a one-line title for a call; for unknown inputs, a field that informs."""
        read = self._title_readers.get(kind)
        if read is None:  # made for the first call: an agent has more kinds than most runs use
            names = self._titles.get(kind)
            read = title_reader(names) if names else informing_string if names is None else _none
            self._title_readers[kind] = read
        return read(input)

    def started(
        self,
        id: str,
        name: str,
        input: msgspec.Raw,
        *,
        title: str | None = None,
        subagent: str | None = None,
        parent: str | None = None,
    ) -> ToolStarted:
        """Return the event for a started call; the title comes from the input unless passed."""
        kind = self.kinds.get(name, "other")
        read = self._title_readers.get(kind)
        server = tool = None
        if kind == "other":
            server, tool = split_mcp(name, prefix=self._mcp_prefix, separator=self._mcp_separator)
        return ToolStarted(
            id=id,
            name=name,
            kind=kind,
            title=title or (read(input) if read is not None else self.title(kind, input)),
            input=raw_copy(input),
            server=server,
            tool=tool,
            subagent=subagent,
            parent=parent,
        )


def _none(input: msgspec.Raw) -> None:
    return None


def split_mcp(
    name: str, *, prefix: str = "mcp__", separator: str = "__"
) -> tuple[str | None, str | None]:
    """Split the name of a tool such as `mcp__server__tool` into server and tool."""
    if not name.startswith(prefix):
        return None, None
    server, _, tool = name[len(prefix) :].partition(separator)
    return (server, tool) if server and tool else (None, None)


def informing_string(input: msgspec.Raw) -> str | None:
    """The first short string of a field that is known to inform, on one line; None without one."""
    fields = None if input is NOTHING else decode_part(input, _any_decoder)
    if isinstance(fields, dict):
        for name, text in fields.items():
            short = isinstance(text, str) and text.strip() and len(text) <= _LONGEST
            if short and name in _INFORMING:
                return one_line(text, _LONGEST)
    return None


def first_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields that is not empty; other fields are skipped."""
    return first_reader(names)(input)


def title_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields, on one line; None if all are missing or empty."""
    text = first_reader(names)(input)
    return None if text is None else one_line(text, _LONGEST_KNOWN)


def title_reader(names: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that makes a title: of these fields, or else what informs."""
    decode = _decoder_of(names).decode
    first = first_reader(names)

    def title(input: msgspec.Raw) -> str | None:
        try:
            text = decode(input).field_0
        except (ValueError, RecursionError):
            text = None
        if text and len(text) <= _LONGEST_KNOWN and text.isprintable() and "  " not in text:
            return text.strip() or informing_string(input)  # as most are
        text = text or first(input)
        return (text and one_line(text, _LONGEST_KNOWN)) or informing_string(input)

    return title


@cache
def first_reader(names: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that does what `first_of` does, for these fields."""
    decoder = _decoder_of(names)

    def first(input: msgspec.Raw) -> str | None:
        try:
            known = decoder.decode(input)
        except (ValueError, RecursionError):
            known = None if input is NOTHING else decode_part(input, decoder)
        # Most inputs have the first field: looking at it alone takes a third of the time.
        return known and (known.field_0 or next(filter(None, astuple(known)), None))

    return first


@cache
def _decoder_of(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    """Return a decoder for these fields, which are numbered in its results."""
    fields = {f"field_{n}": name for n, name in enumerate(names)}
    types = [(field, str | None, None) for field in fields]
    return msgspec.json.Decoder(msgspec.defstruct("Fields", types, rename=fields, gc=False))
