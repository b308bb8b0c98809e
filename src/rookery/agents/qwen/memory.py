"""What must be remembered from one message to the next to tell what a stream means."""

from collections.abc import Sequence

import msgspec

from rookery.agents.qwen.fields import KNOWN_FIELDS
from rookery.core.drift import Drift
from rookery.core.events import (
    Event,
    TaskFinished,
    TaskStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolKind,
    TurnStarted,
)

_MOST_CALLS = 4096  # ended calls of which more may be told


class OpenTool(msgspec.Struct):
    """A tool call without a result yet."""

    name: str
    kind: ToolKind
    input: msgspec.Raw | None
    parent: str | None


class OpenBlock(msgspec.Struct):
    """A text or a thought of which only pieces have come."""

    id: str
    type: str
    tool_id: str | None
    pieces: list[str]


class Memory:
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        self.results = 0
        self.drift = Drift(KNOWN_FIELDS)
        self.sessions: set[str | None] = set()
        self.in_turn = False
        self.last: str | None = None  # the main agent's last text, if nobody counted its tokens
        self.tools: dict[str, OpenTool] = {}
        self.tasks: dict[str, TaskStarted] = {}
        self.denied: set[str | None] = set()  # calls whose denial was told in this turn
        self.errors: dict[str, str] = {}  # what the calls of this turn said that failed
        self._blocks: dict[str | None, dict[int, OpenBlock]] = {}  # by parent and index
        self._ended: dict[str, None] = {}
        self._unnamed = 0

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is."""
        if self.in_turn:
            return []
        self.in_turn = True
        return [TurnStarted(origin="prompt")]

    def end_turn(self) -> None:
        """Close the turn; a stream that is read from standard input may have another."""
        self.in_turn = False
        self.results += 1
        self.last = None
        self.denied.clear()
        self.errors.clear()

    def name(self, what: str) -> str:
        """A name for a thing that the agent left unnamed."""
        self._unnamed += 1
        return f"{what}-{self._unnamed}"

    def open_block(
        self, parent: str | None, index: int, type: str, tool_id: str | None = None
    ) -> list[Event]:
        """Begin a block; one that is still there under its number has lost its whole."""
        blocks = self._blocks.setdefault(parent, {})
        lost = blocks.pop(index, None)
        blocks[index] = OpenBlock(self.name("block"), type, tool_id, [])
        return [] if lost is None else _whole(lost, parent)

    def block(self, parent: str | None, index: int) -> OpenBlock | None:
        """The block that a piece belongs to."""
        return self._blocks.get(parent, {}).get(index)

    def take_block(self, parent: str | None, type: str) -> OpenBlock | None:
        """The block whose whole has come, if there were pieces of it."""
        blocks = self._blocks.get(parent)
        if not blocks:
            return None
        index = next((index for index, block in blocks.items() if block.type == type), None)
        return None if index is None else blocks.pop(index)

    def end_message(self, parent: str | None) -> list[Event]:
        """Give the wholes of blocks that did not come."""
        blocks = self._blocks.pop(parent, {})
        return [event for block in blocks.values() for event in _whole(block, parent)]

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

    def in_subagent(self) -> bool:
        """Whether a subagent is at work."""
        return any(tool.kind == "subagent" for tool in self.tools.values())

    def unfinished(self) -> list[Event]:
        """Give what was being written: its whole will not come."""
        return [event for parent in [*self._blocks] for event in self.end_message(parent)]

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        events = self.unfinished()
        for id, tool in self.tools.items():
            events.append(
                ToolFinished(
                    id=id, status="orphaned", name=tool.name, kind=tool.kind, parent=tool.parent
                )
            )
        for task in self.tasks.values():
            events.append(
                TaskFinished(
                    id=task.id,
                    status="orphaned",
                    kind=task.kind,
                    title=task.title,
                    tool_id=task.tool_id,
                )
            )
        return events, len(self.tools)


def _whole(block: OpenBlock, parent: str | None) -> list[Event]:
    text = "".join(block.pieces)
    if not text or block.tool_id is not None:
        return []
    whole = Thinking if block.type == "thinking" else Text
    return [whole(id=block.id, text=text, parent=parent)]
