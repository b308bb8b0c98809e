"""Reads the wire that agents call `stream-json`: whole messages, which consist of content blocks.

    system ─────── init: a session with its model and tools; other subtypes are the agent's own
    user ───────── a prompt, or the results of tools
    assistant ──── texts, thoughts and calls of the model; its last part has the tokens of all
    stream_event ─ a piece of a block that is not complete, if the agent was asked for pieces
    result ─────── the turn has ended

Several agents write it, having copied it from one another. An agent derives its shapes from those
here, and a class from `StreamJson` for what it does in its own way: how calls start and finish. Its
own functions read its system messages and results. A block that arrives in pieces has an id from
its first piece; the whole block, which follows, gets the same id. Messages of subagents name the
call that started them as their `parent`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import memory, salvage
from nightrook.adapter.memory import LONGEST_TEXT
from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape
from nightrook.adapter.tools import Tools
from nightrook.adapter.usage import reported, uncached
from nightrook.model.bounded_memory import keep_end, take_oldest
from nightrook.model.events import (
    Event,
    McpServer,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolInputDelta,
    Unknown,
    Usage,
    UsageReported,
    UserMessage,
)

_MOST_BLOCKS = 1000  # that arrive in pieces at the same time
_MOST_SIZE = 8_000_000  # characters of all those pieces


class Counters(Shape):
    """Tokens of an answer or a session; `input_tokens` includes the cached ones."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    thinking_tokens: Count | None = None


class Block(Shape):
    """A content block: text, thinking, redacted_thinking, tool_use or tool_result."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    content: str | None = None
    is_error: bool | None = None


class Message(Shape):
    """A message of the assistant or the user."""

    id: str | None = None
    model: str | None = None
    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: Counters | None = None


class Assistant(Shape, tag="assistant"):
    """A message of the model, or a part of one."""

    message: Message | None = None
    parent_tool_use_id: str | None = None


class User(Shape, tag="user"):
    """A message to the model."""

    message: Message | None = None
    parent_tool_use_id: str | None = None


class Server(Shape):
    """An MCP server."""

    name: str | None = None
    status: str | None = None


class System(Shape, tag="system"):
    """Something that is not a message of the conversation, by its subtype; `init` has the rest."""

    subtype: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[Server] | None = None
    permission_mode: str | None = None


class Result(Shape, tag="result"):
    """The end of a turn."""

    subtype: str | None = None
    is_error: bool | None = None
    result: str | None = None
    duration_ms: Milliseconds | None = None
    num_turns: Count | None = None


class Delta(Shape):
    """A piece of a block: of its text, its thought, or the input of its call."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class MessageStart(Shape, tag="message_start"):
    """The start of a message; its texts and thoughts have separate ids."""


class BlockStart(Shape, tag="content_block_start"):
    """The start of a block."""

    index: Count = 0
    content_block: Block | None = None


class BlockDelta(Shape, tag="content_block_delta"):
    """A piece of a block."""

    index: Count = 0
    delta: Delta | None = None


class BlockStop(Shape, tag="content_block_stop"):
    """The end of a block; the complete block follows."""


class MessageStop(Shape, tag="message_stop"):
    """The end of a message."""


def usage_of(counters: Counters) -> Usage:
    """Convert counters of tokens."""
    read, written = counters.cache_read_input_tokens, counters.cache_creation_input_tokens
    return Usage(
        input=uncached(counters.input_tokens, read, written),
        output=counters.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=counters.thinking_tokens,
    )


class OpenBlock(msgspec.Struct):
    """A block of which only pieces have arrived."""

    id: str
    type: str
    tool_id: str | None
    pieces: list[str]


def bound_pieces(blocks: dict[int, OpenBlock]) -> None:
    """Drop the oldest of too many blocks; keep the end of a long text, which follows whole."""
    take_oldest(blocks, _block_size, most=_MOST_BLOCKS, most_size=_MOST_SIZE)
    for block in blocks.values():
        keep_end(block.pieces, LONGEST_TEXT)


def size_of_pieces(blocks: Mapping[int, OpenBlock]) -> int:
    """The number of characters that have arrived."""
    return sum(_block_size(index, block) for index, block in blocks.items())


def _block_size(_: int, block: OpenBlock) -> int:
    return sum(map(len, block.pieces))


class Memory(memory.Memory):
    """The state of one stream: in addition to other wires, the blocks in pieces."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(known)
        self.blocks: dict[str | None, dict[int, OpenBlock]] = {}  # by parent and index

    def open_block(
        self, parent: str | None, index: int, type: str, tool_id: str | None = None
    ) -> list[Event]:
        """Start a block; an open block with the same number is incomplete and reported so far."""
        blocks = self.blocks.setdefault(parent, {})
        partial = blocks.pop(index, None)
        blocks[index] = OpenBlock(self.new_id("block"), type, tool_id, [])
        return [] if partial is None else _so_far(partial, parent)

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
        return [event for block in blocks.values() for event in _so_far(block, parent)]

    def unfinished(self) -> list[Event]:
        """Return the partial texts: the complete ones won't arrive."""
        return [event for parent in [*self.blocks] for event in self.end_message(parent)]

    def trim(self) -> list[Event]:
        """Drop the oldest blocks above the limits."""
        take_oldest(
            self.blocks,
            lambda _, blocks: size_of_pieces(blocks),
            most=_MOST_BLOCKS,
            most_size=_MOST_SIZE,
        )
        for blocks in self.blocks.values():
            bound_pieces(blocks)
        return super().trim()

    def abandon(self) -> list[Event]:
        """End everything open as `orphaned`."""
        return [*self.unfinished(), *super().abandon()]


def _so_far(block: OpenBlock, parent: str | None) -> list[Event]:
    text = "".join(block.pieces)
    if not text or block.tool_id is not None:
        return []
    whole = Thinking if block.type == "thinking" else Text
    return [whole(id=block.id, text=text, parent=parent)]


class StreamJson:
    """Reads the messages of an agent; one derives a class from it."""

    repeats_prompts = True
    """True if a user's text is a prompt; otherwise the agent wrote it for the model."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.parts: dict[type, Callable[[Any, str | None, Any], Sequence[Event]]] = {
            BlockDelta: _block_delta,
            BlockStart: _block_start,
            BlockStop: _nothing,
            MessageStart: self.message_start,
            MessageStop: _message_stop,
        }

    def start(self, memory: Any, block: Block, parent: str | None) -> Sequence[Event]:
        """Read a call."""
        id, name = block.id or memory.new_id("call"), block.name or "tool"
        started = self.tools.started(id, name, block.input, parent=parent)
        events: Sequence[Event] = memory.start(started)
        return events

    def finish(self, memory: Any, block: Block, parent: str | None) -> Sequence[Event]:
        """Read the result of a call."""
        raise NotImplementedError

    def usage(
        self, memory: Any, message: Message, used: Counters, parent: str | None
    ) -> UsageReported:
        """Report the tokens of an answer."""
        return reported(
            usage_of(used),
            message_id=message.id,
            model=message.model,
            stop_reason=message.stop_reason,
            parent=parent,
        )

    def uncounted(self, memory: Any, message: Message) -> None:
        """Remember an answer of the main agent without tokens."""

    def assistant(self, memory: Any, message: Assistant, line: bytes) -> Sequence[Event]:
        """Read an answer of the model, or a part of one: the last part has the tokens of all."""
        inner, parent = message.message or Message(), message.parent_tool_use_id
        events: list[Event] = []
        if parent is None and not memory.in_turn:
            events += memory.begin_turn()
        unknown: str | None = None
        number = -1
        for block in inner.content or ():
            type = block.type
            number += 1
            id = None
            if memory.blocks and (pieces := memory.take_block(parent, type)) is not None:
                id = pieces.id
            if type == "tool_use":
                events += self.start(memory, block, parent)
                continue
            if id is None and inner.id:
                id = f"{inner.id}:{number}"
            if type == "text":
                if block.text:
                    id = id or memory.new_id("text")
                    events.append(Text(id=id, text=block.text, parent=parent))
            elif type == "thinking" or type == "redacted_thinking":
                hidden = True if type == "redacted_thinking" else None
                id, text = id or memory.new_id("thought"), block.thinking or None
                events.append(Thinking(id=id, text=text, redacted=hidden, parent=parent))
            else:
                unknown = type
        used = inner.usage
        if used is not None and (used.input_tokens or used.output_tokens):
            events.append(self.usage(memory, inner, used, parent))
        elif parent is None:
            self.uncounted(memory, inner)
        if unknown is not None:
            events.append(Unknown(name=f"assistant/{unknown}", raw=salvage.raw_copy(line)))
        return events

    def user(self, memory: Any, message: User, line: bytes) -> Sequence[Event]:
        """Read a prompt, the results of tools, or a text by the agent for the model."""
        inner, parent = message.message or Message(), message.parent_tool_use_id
        events: list[Event] = []
        if parent is None and not memory.in_turn and self.repeats_prompts:
            events += memory.begin_turn()
        unknown: str | None = None
        for block in inner.content or ():
            if block.type == "tool_result":
                events += self.finish(memory, block, parent)
            elif block.type == "text":
                text, own = block.text or "", None if self.repeats_prompts else True
                events.append(UserMessage(text=text, synthetic=own, parent=parent))
            else:
                unknown = block.type
        if unknown is not None:
            events.append(Unknown(name=f"user/{unknown}", raw=salvage.raw_copy(line)))
        return events

    def message_start(self, memory: Any, parent: str | None, part: object) -> Sequence[Event]:
        """Read the start of an answer, of which pieces follow."""
        events: Sequence[Event] = () if parent is not None else memory.begin_turn()
        return events

    def stream_event(self, memory: Any, message: Any, line: bytes) -> Sequence[Event]:
        """Read a piece of an unfinished message."""
        part, parent = message.event, message.parent_tool_use_id
        read = self.parts.get(type(part))
        if read is None:
            return (Unknown(name="stream_event", raw=salvage.raw_copy(line)),)
        return read(memory, parent, part)


def session_started(
    memory: memory.Memory, message: System, *, version: str | None = None
) -> list[Event]:
    """Read an `init`, which starts a session if its id is new."""
    if message.session_id in memory.sessions:
        return []
    memory.sessions.add(message.session_id)
    servers = message.mcp_servers
    return [
        SessionStarted(
            session=message.session_id,
            model=message.model,
            cwd=message.cwd,
            version=version,
            tools=None if message.tools is None else tuple(message.tools),
            mcp_servers=None
            if servers is None
            else tuple(McpServer(name=s.name, status=s.status) for s in servers if s.name),
            permission_mode=message.permission_mode,
        )
    ]


def _block_start(memory: Memory, parent: str | None, part: BlockStart) -> Sequence[Event]:
    block = part.content_block or Block()
    tool_id = block.id or memory.new_id("call") if block.type == "tool_use" else None
    return memory.open_block(parent, part.index, block.type, tool_id)


def _block_delta(memory: Memory, parent: str | None, part: BlockDelta) -> Sequence[Event]:
    delta = part.delta or Delta()
    block = memory.block(parent, part.index)
    if block is None:  # the recording starts in the middle of a message
        memory.open_block(parent, part.index, delta.type.partition("_")[0])
        block = memory.block(parent, part.index)
        assert block is not None
    if delta.text is not None:
        block.pieces.append(delta.text)
        return (TextDelta(id=block.id, text=delta.text, parent=parent),)
    if delta.thinking is not None:
        block.pieces.append(delta.thinking)
        return (ThinkingDelta(id=block.id, text=delta.thinking, parent=parent),)
    if delta.partial_json is not None:
        return (ToolInputDelta(id=block.tool_id or block.id, json=delta.partial_json),)
    return ()


def _message_stop(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    return memory.end_message(parent)


def _nothing(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    return ()
