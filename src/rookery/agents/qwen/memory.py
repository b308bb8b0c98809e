"""What must be remembered of a stream of Qwen Code beside what every stream needs."""

import msgspec

from rookery.adapter import memory
from rookery.agents.qwen.fields import KNOWN_FIELDS
from rookery.model.events import Event, Text, Thinking


class OpenBlock(msgspec.Struct):
    """A text or a thought of which only pieces have come."""

    id: str
    type: str
    tool_id: str | None
    pieces: list[str]


class Memory(memory.Memory):
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS)
        self.last: str | None = None  # the main agent's last text, if nobody counted its tokens
        self.denied: set[str | None] = set()  # calls whose denial was told in this turn
        self.errors: dict[str, str] = {}  # what the calls of this turn said that failed
        self.fallback: str | None = None  # the model that answers this one request for another
        self.retrying = False  # whether a retry was told and nothing was said since
        self._blocks: dict[str | None, dict[int, OpenBlock]] = {}  # by parent and index

    def end_turn(self) -> None:
        """Close the turn; a stream that is read from standard input may have another."""
        super().end_turn()
        self.last = None
        self.fallback = None
        self.retrying = False
        self.denied.clear()
        self.errors.clear()

    def open_block(
        self, parent: str | None, index: int, type: str, tool_id: str | None = None
    ) -> list[Event]:
        """Begin a block; one that is still there under its number has lost its whole."""
        blocks = self._blocks.setdefault(parent, {})
        lost = blocks.pop(index, None)
        blocks[index] = OpenBlock(self.new_id("block"), type, tool_id, [])
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

    def in_subagent(self) -> bool:
        """Whether a subagent is at work."""
        return any(tool.kind == "subagent" for tool in self.tools.values())

    def unfinished(self) -> list[Event]:
        """Give what was being written: its whole will not come."""
        return [event for parent in [*self._blocks] for event in self.end_message(parent)]

    def abandon(self) -> list[Event]:
        """End what is open though nobody said how it ended."""
        return [*self.unfinished(), *super().abandon()]


def _whole(block: OpenBlock, parent: str | None) -> list[Event]:
    text = "".join(block.pieces)
    if not text or block.tool_id is not None:
        return []
    whole = Thinking if block.type == "thinking" else Text
    return [whole(id=block.id, text=text, parent=parent)]
