"""What is known about an agent's tools: their kinds, MCP servers and titles."""

from collections.abc import Callable, Mapping

import msgspec

from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.titles import informing_string, title_reader
from nightrook.model.events import ToolKind, ToolStarted


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
