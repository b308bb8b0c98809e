"""What is remembered about a stream of Qwen Code, in addition to what every agent needs."""

import msgspec

from nightrook.adapter import memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.bounded_memory import keep_end, take_oldest
from nightrook.model.events import Event, Text, Thinking

_MOST_BLOCKS = 1000  # that arrive in pieces at the same time
_MOST_SIZE = 8_000_000  # characters of all those pieces


class OpenBlock(msgspec.Struct):
    """A text or thought of which only pieces have arrived."""

    id: str
    type: str
    tool_id: str | None
    pieces: list[str]


class Memory(memory.Memory):
    """Everything that is remembered about one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["qwen"])
        self.last: str | None = None  # the main agent's last text, if its tokens were not counted
        self.denied: set[str | None] = set()  # calls whose denial was reported in this turn
        self.errors: dict[str, str] = {}  # the errors of this turn's failed calls
        self.fallback: str | None = None  # the model that answers this request instead
        self.retrying = False  # whether a retry was reported and no text followed yet
        self.blocks: dict[str | None, dict[int, OpenBlock]] = {}  # by parent and index

    def end_turn(self) -> None:
        """Close the turn; a stream with prompts on stdin may have another."""
        super().end_turn()
        self.last = None
        self.fallback = None
        self.retrying = False
        self.denied.clear()
        self.errors.clear()

    def open_block(
        self, parent: str | None, index: int, type: str, tool_id: str | None = None
    ) -> list[Event]:
        """Start a block; an open block with the same number is incomplete and reported so far."""
        blocks = self.blocks.setdefault(parent, {})
        partial = blocks.pop(index, None)
        blocks[index] = OpenBlock(self.new_id("block"), type, tool_id, [])
        return [] if partial is None else _whole(partial, parent)

    def block(self, parent: str | None, index: int) -> OpenBlock | None:
        """The block that a piece belongs to."""
        return self.blocks.get(parent, {}).get(index)

    def take_block(self, parent: str | None, type: str) -> OpenBlock | None:
        """The open block that is now complete, if there were pieces of it."""
        blocks = self.blocks.get(parent)
        if not blocks:
            return None
        index = next((index for index, block in blocks.items() if block.type == type), None)
        return None if index is None else blocks.pop(index)

    def end_message(self, parent: str | None) -> list[Event]:
        """Return the texts of blocks that were never completed."""
        blocks = self.blocks.pop(parent, {})
        return [event for block in blocks.values() for event in _whole(block, parent)]

    def in_subagent(self) -> bool:
        """Whether a subagent is running."""
        return any(tool.kind == "subagent" for tool in self.tools.values())

    def unfinished(self) -> list[Event]:
        """Return the partial texts: the complete ones won't arrive."""
        return [event for parent in [*self.blocks] for event in self.end_message(parent)]

    def trim(self) -> list[Event]:
        """Keep the end of a text in pieces, for its whole is yet to come."""
        take_oldest(self.blocks, _pieces_size, most=_MOST_BLOCKS, most_size=_MOST_SIZE)
        for blocks in self.blocks.values():
            take_oldest(blocks, _block_size, most=_MOST_BLOCKS, most_size=_MOST_SIZE)
            for block in blocks.values():
                keep_end(block.pieces, memory.LONGEST_TEXT)
        return super().trim()

    def abandon(self) -> list[Event]:
        """End everything open as `orphaned`."""
        return [*self.unfinished(), *super().abandon()]


def _whole(block: OpenBlock, parent: str | None) -> list[Event]:
    text = "".join(block.pieces)
    if not text or block.tool_id is not None:
        return []
    whole = Thinking if block.type == "thinking" else Text
    return [whole(id=block.id, text=text, parent=parent)]


def _pieces_size(_: str | None, blocks: dict[int, OpenBlock]) -> int:
    return sum(_block_size(index, block) for index, block in blocks.items())


def _block_size(_: int, block: OpenBlock) -> int:
    return sum(map(len, block.pieces))
