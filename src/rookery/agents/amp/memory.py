"""What must be remembered from one message to the next to tell what a stream means."""

from collections.abc import Sequence

import msgspec

from rookery.agents.amp.fields import KNOWN_FIELDS
from rookery.core.drift import Drift
from rookery.core.events import Event, ToolFinished, ToolKind, TurnStarted

_MOST_CALLS = 4096  # ended calls of which more may be told


class OpenTool(msgspec.Struct):
    """A tool call without a result yet."""

    id: str
    name: str
    kind: ToolKind
    input: msgspec.Raw | None
    parent: str | None


class Memory:
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        self.results = 0
        self.drift = Drift(KNOWN_FIELDS)
        self.sessions: set[str | None] = set()
        self.in_turn = False
        self.tools: dict[str, OpenTool] = {}
        self._ended: dict[str, None] = {}
        self._unnamed = 0

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is."""
        if self.in_turn:
            return []
        self.in_turn = True
        return [TurnStarted(origin="prompt")]

    def name(self, what: str) -> str:
        """A name for a thing that the agent left unnamed."""
        self._unnamed += 1
        return f"{what}-{self._unnamed}"

    def has_begun(self, id: str) -> bool:
        """Whether a call is open or has ended."""
        return id in self.tools or id in self._ended

    def has_ended(self, id: str) -> bool:
        """Whether a call has had its result."""
        return id in self._ended

    def end_tool(self, id: str) -> OpenTool | None:
        """Remember that a call has ended, and give its beginning if there was one."""
        self._ended[id] = None
        if len(self._ended) > _MOST_CALLS:
            del self._ended[next(iter(self._ended))]
        return self.tools.pop(id, None)

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        events = [
            ToolFinished(
                id=tool.id, status="orphaned", name=tool.name, kind=tool.kind, parent=tool.parent
            )
            for tool in self.tools.values()
        ]
        return events, len(events)
