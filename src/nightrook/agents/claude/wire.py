"""Typed views of Claude Code's raw messages; `reader` turns them into neutral events.

Each class keeps the whole JSON object in `data` and has properties for the most used fields.
A field that is missing or has an unexpected type is None, "" or empty; nothing raises.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Any, Literal, Self

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.lines import DEFAULT_CAP, Line, LineBuffer, Oversized
from nightrook.model.events import Unreadable

Json = Any
"""A JSON value: None, bool, int, float, str, or a list or dict of such."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_FIRST = ("type", "subtype")  # a result of 2.1.325 has them in its middle
_MOST_SHOWN = 6
_DEEPEST_SHOWN = 5  # event, message, content, block, input
_LONGEST_SHOWN = 60


class _View(msgspec.Struct, frozen=True):
    """A view of a JSON object; two views are equal if their data is."""

    data: dict[str, Json]

    @classmethod
    def from_json(cls, line: bytes | str) -> Self:
        """Read one JSON object; raises msgspec.DecodeError if it isn't one.

        Invalid JSON text is repaired as in the decoder: lone surrogates and invalid UTF-8 become
        U+FFFD, numbers that are too large become null.
        """
        parsed = salvage.parse(
            line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        )
        if isinstance(parsed, Unreadable):
            raise msgspec.DecodeError(f"not a JSON object ({parsed.reason}): {parsed.preview}")
        if not isinstance(parsed.value, dict):
            raise msgspec.DecodeError("not a JSON object (not_an_object)")
        return cls(parsed.value)

    def to_json(self) -> bytes:
        """Return the whole object as JSON, including fields without a property."""
        return msgspec.json.encode(self.data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_brief(self.data)})"


class WireUsage(_View, frozen=True):
    """The tokens of one API message, or of a turn; see `data` for more."""

    @property
    def input_tokens(self) -> int | None:
        """The input tokens that were not in the cache."""
        return _integer(self.data.get("input_tokens"))

    @property
    def output_tokens(self) -> int | None:
        """The output tokens; on an assistant line only those at its start."""
        return _integer(self.data.get("output_tokens"))

    @property
    def cache_read(self) -> int | None:
        """The tokens read from the cache (`cache_read_input_tokens`)."""
        return _integer(self.data.get("cache_read_input_tokens"))

    @property
    def cache_create(self) -> int | None:
        """The tokens written to the cache (`cache_creation_input_tokens`)."""
        return _integer(self.data.get("cache_creation_input_tokens"))


class ContentBlock(_View, frozen=True):
    """One block of a message: a text, a tool call, a tool result, or another type."""

    @property
    def type(self) -> str:
        """The type of the block."""
        return _string(self.data.get("type")) or ""

    @property
    def text(self) -> str:
        """The text of a text block."""
        return _string(self.data.get("text")) or ""

    @property
    def id(self) -> str | None:
        """The id of a tool call."""
        return _string(self.data.get("id"))

    @property
    def name(self) -> str | None:
        """The name of the tool called."""
        return _string(self.data.get("name"))

    @property
    def input(self) -> Json:
        """The input of a tool call; a string if the model wrote no valid JSON."""
        return self.data.get("input")

    @property
    def tool_use_id(self) -> str | None:
        """The id of the tool call that a result answers."""
        return _string(self.data.get("tool_use_id"))

    @property
    def content(self) -> Json:
        """The return value of a tool: a string, or a list of blocks."""
        return self.data.get("content")

    @property
    def is_error(self) -> bool:
        """True if a tool failed; most tools that succeed leave it out."""
        return self.data.get("is_error") is True

    @property
    def is_text(self) -> bool:
        """True for a `text` block."""
        return self.type == "text"

    @property
    def is_tool_use(self) -> bool:
        """True for a `tool_use` block; tools that the API itself runs have other types."""
        return self.type == "tool_use"

    @property
    def is_tool_result(self) -> bool:
        """True for a `tool_result` block."""
        return self.type == "tool_result"

    def input_string(self) -> str:
        """The input of a tool call as indented JSON; a string as it is."""
        return _text(self.input, indent=2)

    def content_string(self) -> str:
        """The return value of a tool: a string as it is, anything else as JSON on one line."""
        return _text(self.content, indent=-1)


class WireMessage(_View, frozen=True):
    """A message of the model or the user; one API message may be split into several of them."""

    @property
    def id(self) -> str | None:
        """The id of the API message, the same on each of its lines."""
        return _string(self.data.get("id"))

    @property
    def type(self) -> str:
        """The type of the object, `message`; lines of a user have none."""
        return _string(self.data.get("type")) or ""

    @property
    def role(self) -> str | None:
        """The author: `assistant` or `user`."""
        return _string(self.data.get("role"))

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The blocks; a plain string becomes one text block."""
        content = self.data.get("content")
        if isinstance(content, str):
            return (ContentBlock({"type": "text", "text": content}),)
        blocks = content if isinstance(content, list) else ()
        return tuple(ContentBlock(block) for block in blocks if isinstance(block, dict))

    @property
    def model(self) -> str | None:
        """The model; `<synthetic>` for messages of Claude Code itself."""
        return _string(self.data.get("model"))

    @property
    def stop_reason(self) -> str | None:
        """The reason why the model stopped; often not yet known."""
        return _string(self.data.get("stop_reason"))

    @property
    def usage(self) -> WireUsage | None:
        """The tokens used, repeated on each line of the API message."""
        usage = self.data.get("usage")
        return WireUsage(usage) if isinstance(usage, dict) else None


class WireEvent(_View, frozen=True):
    """One line of the stream; its type decides which properties have a value."""

    @property
    def type(self) -> str:
        """The type of the line: `system`, `assistant`, `user`, `result` or another."""
        return _string(self.data.get("type")) or ""

    @property
    def subtype(self) -> str | None:
        """The subtype of a system line (`init`, …) or of a result (`success`, …)."""
        return _string(self.data.get("subtype"))

    @property
    def session_id(self) -> str | None:
        """The session that the line belongs to."""
        return _string(self.data.get("session_id"))

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools in an init line."""
        return _names(self.data.get("tools"))

    @property
    def mcp_servers(self) -> tuple[str, ...]:
        """The names of the MCP servers in an init line, connected or not."""
        return _names(self.data.get("mcp_servers"))

    @property
    def model(self) -> str | None:
        """The model in an init line."""
        return _string(self.data.get("model"))

    @property
    def message(self) -> WireMessage | None:
        """The message of an assistant or user line."""
        message = self.data.get("message")
        return WireMessage(message) if isinstance(message, dict) else None

    @property
    def cost_usd(self) -> float | None:
        """The cost in a result, for the whole process so far."""
        total = _number(self.data.get("total_cost_usd"))
        return _number(self.data.get("cost_usd")) if total is None else total

    @property
    def duration_ms(self) -> float | None:
        """The duration of the turn in a result, in milliseconds."""
        return _number(self.data.get("duration_ms"))

    @property
    def duration_api_ms(self) -> float | None:
        """The time spent in the API, for the whole process, so it may be longer."""
        return _number(self.data.get("duration_api_ms"))

    @property
    def is_error(self) -> bool:
        """True if a result is an error; its subtype alone does not say so."""
        return self.data.get("is_error") is True

    @property
    def num_turns(self) -> int | None:
        """The number of turns in a result."""
        return _integer(self.data.get("num_turns"))

    @property
    def result(self) -> str | None:
        """The final text of a result."""
        return _string(self.data.get("result"))

    @property
    def usage(self) -> WireUsage | None:
        """The tokens of a result's turn; those of a message are in `message.usage`."""
        usage = self.data.get("usage")
        return WireUsage(usage) if isinstance(usage, dict) else None

    def text_content(self) -> str:
        """The text of all text blocks, joined without a separator."""
        return "".join(block.text for block in self._blocks() if block.is_text)

    def tool_use_blocks(self) -> tuple[ContentBlock, ...]:
        """The tool calls of an assistant line; other lines have none."""
        calls = self._blocks() if self.type == "assistant" else ()
        return tuple(block for block in calls if block.is_tool_use)

    def tool_result_blocks(self) -> tuple[ContentBlock, ...]:
        """The results of tool calls."""
        return tuple(block for block in self._blocks() if block.is_tool_result)

    def _blocks(self) -> tuple[ContentBlock, ...]:
        message = self.message
        return () if message is None else message.content


class UnreadableLine(msgspec.Struct, frozen=True):
    """A line of the stream that isn't a message, with the position of its bytes."""

    offset: int
    length: int
    preview: str
    reason: Literal["not_json", "oversized", "truncated", "too_deep", "not_an_object"]


def read(
    chunks: Iterable[bytes], *, cap: int = DEFAULT_CAP
) -> Iterator[WireEvent | UnreadableLine]:
    """Read a stream from chunks of bytes, such as an open binary file, which is not closed.

    Blank lines are skipped. An array of objects on one line becomes as many events.
    """
    lines = _Lines(cap)
    for chunk in chunks:
        yield from lines.feed(chunk)
    yield from lines.close()


async def read_async(
    chunks: AsyncIterable[bytes], *, cap: int = DEFAULT_CAP
) -> AsyncGenerator[WireEvent | UnreadableLine, None]:
    """Read a stream as `read` does, while its bytes arrive.

    It owns the source: a source with `aclose` is closed when the iteration ends, also when it is
    cancelled. To stop early, use `contextlib.aclosing`.
    """
    lines = _Lines(cap)
    async with AsyncExitStack() as closing:
        _close_later(closing, chunks)
        pieces = aiter(chunks)
        if pieces is not chunks:
            _close_later(closing, pieces)
        async for chunk in pieces:
            for event in lines.feed(chunk):
                yield event
        for event in lines.close():
            yield event


def _close_later(closing: AsyncExitStack, source: Any) -> None:
    if (close := getattr(source, "aclose", None)) is not None:
        closing.push_async_callback(close)


class _Lines:
    """Turns bytes into events and keeps track of the offset in the stream."""

    def __init__(self, cap: int) -> None:
        self._buffer = LineBuffer(cap)
        self._offset = 0

    def feed(self, data: bytes) -> Iterator[WireEvent | UnreadableLine]:
        """Read the lines that these bytes complete."""
        for line in self._buffer.feed(data):
            yield from self._read(line, newline=1)

    def close(self) -> Iterator[WireEvent | UnreadableLine]:
        """Read a last line without newline."""
        if (last := self._buffer.close()) is not None:
            yield from self._read(last, newline=0)

    def _read(self, line: Line, *, newline: int) -> Iterator[WireEvent | UnreadableLine]:
        size = line.size if isinstance(line, Oversized) else len(line)
        messages = _messages(line)
        if isinstance(messages, Unreadable):
            cut = not newline and isinstance(line, bytes) and _is_cut(line, messages)
            reason = "truncated" if cut else messages.reason
            yield UnreadableLine(self._offset, size - newline, messages.preview or "", reason)
        else:
            yield from map(WireEvent, messages)
        self._offset += size


def _messages(line: Line) -> list[dict[str, Json]] | Unreadable:
    """The objects in a line: usually one, none in a blank line."""
    if isinstance(line, Oversized):
        return salvage.unreadable(line.head, "oversized")
    if not line.removeprefix(_BYTE_ORDER_MARK).strip():
        return []
    parsed = salvage.parse(line)
    if isinstance(parsed, Unreadable):
        return parsed
    messages = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    if all(isinstance(message, dict) for message in messages):
        return messages
    return salvage.unreadable(line, "not_an_object")


def _is_cut(line: bytes, unreadable: Unreadable) -> bool:
    """True if a last line looks like the beginning of a message whose end is missing."""
    is_message = line.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")
    return is_message and unreadable.reason == "not_json"


def _string(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Json) -> float | None:
    return value if isinstance(value, float) else _integer(value)


def _names(value: Json) -> tuple[str, ...]:
    """The names in a list of strings, or of objects that have a name."""
    items = value if isinstance(value, list) else ()
    names = (item.get("name") if isinstance(item, dict) else item for item in items)
    return tuple(name for name in names if isinstance(name, str))


def _text(value: Json, *, indent: int) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()


def _brief(value: Json, depth: int = _DEEPEST_SHOWN) -> str:
    """A short representation of a value of any size."""
    if isinstance(value, dict):
        if depth == 0:
            return "{…}"
        keys = sorted(value, key=lambda key: key not in _SHOWN_FIRST)
        parts = [f"{key!r}: {_brief(value[key], depth - 1)}" for key in keys[:_MOST_SHOWN]]
        return "{" + _join(parts, len(keys)) + "}"
    if isinstance(value, list):
        parts = [_brief(item, depth - 1) for item in value[:_MOST_SHOWN]] if depth else []
        return "[" + _join(parts, len(value)) + "]"
    if isinstance(value, str) and len(value) > _LONGEST_SHOWN:
        return f"{value[:_LONGEST_SHOWN]!r}…"
    return repr(value)


def _join(parts: list[str], count: int) -> str:
    return ", ".join(parts + ["…"] * (count > len(parts)))
