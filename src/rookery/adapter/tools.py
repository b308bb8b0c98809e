"""What is known about an agent's tools: their kinds, MCP servers and titles."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from rookery.adapter.salvage import raw_copy
from rookery.adapter.titles import (
    LONGEST_TITLE,
    fields_decoder,
    first_short_string,
    first_text,
)
from rookery.model.events import ToolKind, ToolStarted
from rookery.model.text import one_line


class Tools(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The tools of an agent."""

    kinds: Mapping[str, ToolKind]
    """The kind of each built-in tool; any other is `other`."""

    titles: Mapping[ToolKind, tuple[str, ...]] = {}
    """The input fields that make the title of a call, best first; an empty tuple means no title."""

    mcp_prefix: str = "mcp__"
    """The beginning of the name of an MCP server's tool, before the name of the server."""

    mcp_separator: str = "__"
    """The separator between server and tool."""

    def kind(self, name: str) -> ToolKind:
        """Return the kind of a tool."""
        return self.kinds.get(name, "other")

    def title(self, kind: ToolKind, input: msgspec.Raw) -> str | None:
        """Return a one-line title for a call; for unknown inputs, their first short string."""
        decoder = self._title_decoders.get(kind)
        text = None if decoder is None else first_text(input, decoder)
        if text is not None and (title := one_line(text, LONGEST_TITLE)):
            return title
        return None if self.titles.get(kind) == () else first_short_string(input)

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
        if not title:
            title = self.title(kind, input)
        server = tool = None
        if kind == "other":
            server, tool = split_mcp(name, prefix=self.mcp_prefix, separator=self.mcp_separator)
        return ToolStarted(
            id=id,
            name=name,
            kind=kind,
            title=title,
            input=raw_copy(input),
            server=server,
            tool=tool,
            subagent=subagent,
            parent=parent,
        )

    @cached_property
    def _title_decoders(self) -> Mapping[ToolKind, msgspec.json.Decoder[Any]]:
        """The decoders of the fields that make titles."""
        return {kind: fields_decoder(names) for kind, names in self.titles.items() if names}


def split_mcp(
    name: str, *, prefix: str = "mcp__", separator: str = "__"
) -> tuple[str | None, str | None]:
    """Split the name of a tool such as `mcp__server__tool` into server and tool."""
    if not name.startswith(prefix):
        return None, None
    server, _, tool = name[len(prefix) :].partition(separator)
    return (server, tool) if server and tool else (None, None)
