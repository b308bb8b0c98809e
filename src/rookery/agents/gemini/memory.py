"""What must be remembered from one message to the next to tell what a stream means."""

from collections.abc import Sequence

import msgspec

from rookery.agents.gemini.fields import KNOWN_FIELDS
from rookery.core.drift import Drift
from rookery.core.events import Event, Text, ToolFinished, ToolKind, TurnStarted

_MOST_CALLS = 4096  # ended calls of which more may be told


class OpenTool(msgspec.Struct):
    """A tool call without a result yet: the result does not name the tool."""

    name: str
    kind: ToolKind
    input: msgspec.Raw


class Memory:
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        self.results = 0
        self.drift = Drift(KNOWN_FIELDS)
        self.sessions: set[str | None] = set()
        self.in_turn = False
        self.writing: str | None = None  # the id of the text that is being written
        self.pieces: list[str] = []  # of that text
        self.answer: str | None = None  # the last text, unless a call came after it
        self.trouble: str | None = None  # the last error or warning
        self.gave_up: str | None = None  # why the program stopped the model
        self.tools: dict[str, OpenTool] = {}
        self._ended: dict[str, None] = {}
        self._unnamed = 0

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is."""
        if self.in_turn:
            return []
        self.in_turn = True
        self.answer = self.trouble = self.gave_up = None
        return [TurnStarted(origin="prompt")]

    def name(self, what: str) -> str:
        """A name for a thing that the agent left unnamed."""
        self._unnamed += 1
        return f"{what}-{self._unnamed}"

    def end_text(self) -> list[Event]:
        """Give the whole of the text that was being written, if one was."""
        if self.writing is None:
            return []
        self.answer = "".join(self.pieces)
        whole = Text(id=self.writing, text=self.answer)
        self.writing = None
        self.pieces = []
        return [whole]

    def go_on(self) -> list[Event]:
        """Come to something that is no text: begin a turn unless one is open, end an open text."""
        if self.in_turn and self.writing is None:
            return []
        return [*self.begin_turn(), *self.end_text()]

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

    def abandon(self) -> list[Event]:
        """End what is open though nobody said how it ended."""
        events = self.end_text()
        for id, tool in [*self.tools.items()]:
            self.end_tool(id)
            events.append(ToolFinished(id=id, status="orphaned", name=tool.name, kind=tool.kind))
        return events

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        open_tools = len(self.tools)
        return self.abandon(), open_tools
