"""What is known of an agent's tools: their kinds, whose they are, and what a call is about."""

from collections.abc import Mapping

import msgspec

from rookery.adapter.salvage import own
from rookery.adapter.titles import first_short_string, title_of
from rookery.model.events import ToolKind, ToolStarted


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """The tools of an agent."""

    kinds: Mapping[str, ToolKind]
    """The kind of each built-in tool; any other is `other`."""

    titles: Mapping[ToolKind, tuple[str, ...]] = {}
    """The inputs that say what a call is about, the best first; with none, a call has no title."""

    start: str = "mcp__"
    """What the name of a server's tool begins with, before the name of the server."""

    between: str = "__"
    """What stands between server and tool."""

    def kind(self, name: str) -> ToolKind:
        """Say what kind of tool it is."""
        return self.kinds.get(name, "other")

    def title(self, kind: ToolKind, input: msgspec.Raw) -> str | None:
        """Say in one line what a call is about; of unknown inputs it is the first short string."""
        names = self.titles.get(kind)
        if names == ():
            return None
        return (title_of(input, *names) if names else None) or first_short_string(input)

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
        """Tell that a tool was called; a title is made if none is given."""
        kind = self.kinds.get(name, "other")
        server = tool = None
        if kind == "other":
            server, tool = split_mcp(name, start=self.start, between=self.between)
        return ToolStarted(
            id=id,
            name=name,
            kind=kind,
            title=title or self.title(kind, input),
            input=own(input),
            server=server,
            tool=tool,
            subagent=subagent,
            parent=parent,
        )


def split_mcp(
    name: str, *, start: str = "mcp__", between: str = "__"
) -> tuple[str | None, str | None]:
    """Split the name of a tool such as `mcp__server__tool` in server and tool."""
    if not name.startswith(start):
        return None, None
    server, _, tool = name[len(start) :].partition(between)
    return (server, tool) if server and tool else (None, None)
