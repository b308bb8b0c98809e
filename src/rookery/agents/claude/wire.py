"""The wire itself, typed: Claude Code's messages in its own words. Neutral events are `reader`'s.

Each class is a view: it keeps the whole JSON object in `data` and names the parts most asked for.
A part that is missing or of another type than expected is None, "" or empty; nothing raises.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Any, Literal, Self

import msgspec

from rookery.adapter import salvage
from rookery.adapter.lines import DEFAULT_CAP, Line, LineBuffer, Oversized
from rookery.model.events import Unreadable

Json = Any
"""A JSON value: None, bool, int, float, str, or a list or dict of such."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_FIRST = ("type", "subtype")  # a result of 2.1.325 has them in its middle
_MOST_SHOWN = 6
_DEEPEST_SHOWN = 5  # event, message, content, block, input
_LONGEST_SHOWN = 60


class _View(msgspec.Struct, frozen=True):
    """A JSON object to look at; two views are equal if they show equal data."""

    data: dict[str, Json]

    @classmethod
    def from_json(cls, line: bytes | str) -> Self:
        """Read one JSON object; a msgspec.DecodeError says that it is none.

        What is no valid JSON text is mended as the decoder does: lone surrogates and invalid
        UTF-8 become U+FFFD, numbers that nobody can hold become null.
        """
        parsed = salvage.parse(
            line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        )
        if isinstance(parsed, Unreadable):
            raise msgspec.DecodeError(f"no JSON object ({parsed.reason}): {parsed.preview}")
        if not isinstance(parsed.value, dict):
            raise msgspec.DecodeError("no JSON object (not_an_object)")
        return cls(parsed.value)

    def to_json(self) -> bytes:
        """Give the whole object as JSON, the fields that have no property too."""
        return msgspec.json.encode(self.data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_brief(self.data)})"


class WireUsage(_View, frozen=True):
    """The tokens of one API message, or of a turn; see `data` for more."""

    @property
    def input_tokens(self) -> int | None:
        """The tokens read anew, outside the cache."""
        return _integer(self.data.get("input_tokens"))

    @property
    def output_tokens(self) -> int | None:
        """The tokens written; on an assistant line only those at its beginning."""
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
    """One block of a message: a text, a tool call, a tool's result, or a kind of its own."""

    @property
    def type(self) -> str:
        """The kind of block."""
        return _string(self.data.get("type")) or ""

    @property
    def text(self) -> str:
        """The words of a text block."""
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
        """What a tool gave back: a string, or a list of blocks."""
        return self.data.get("content")

    @property
    def is_error(self) -> bool:
        """Whether a tool says that it failed; most that succeed say nothing."""
        return self.data.get("is_error") is True

    @property
    def is_text(self) -> bool:
        """Whether it is a `text` block."""
        return self.type == "text"

    @property
    def is_tool_use(self) -> bool:
        """Whether it is a `tool_use` block; the API's own tools have other types."""
        return self.type == "tool_use"

    @property
    def is_tool_result(self) -> bool:
        """Whether it is a `tool_result` block."""
        return self.type == "tool_result"

    def input_string(self) -> str:
        """The input of a tool call as indented JSON; a string as it is."""
        return _words(self.input, indent=2)

    def content_string(self) -> str:
        """What a tool gave back: a string as it is, anything else as JSON in one line."""
        return _words(self.content, indent=-1)


class WireMessage(_View, frozen=True):
    """What the model or its user said; one API message may be cut into several such."""

    @property
    def id(self) -> str | None:
        """The id of the API message, the same on each of its lines."""
        return _string(self.data.get("id"))

    @property
    def type(self) -> str:
        """The kind of object, `message`; lines of a user have none."""
        return _string(self.data.get("type")) or ""

    @property
    def role(self) -> str | None:
        """Who speaks: `assistant` or `user`."""
        return _string(self.data.get("role"))

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The blocks; where the wire has a mere string, it is one text block."""
        content = self.data.get("content")
        if isinstance(content, str):
            return (ContentBlock({"type": "text", "text": content}),)
        blocks = content if isinstance(content, list) else ()
        return tuple(ContentBlock(block) for block in blocks if isinstance(block, dict))

    @property
    def model(self) -> str | None:
        """The model that speaks; `<synthetic>` if it is the program itself."""
        return _string(self.data.get("model"))

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped; often not known yet."""
        return _string(self.data.get("stop_reason"))

    @property
    def usage(self) -> WireUsage | None:
        """The tokens used, repeated on each line of the API message."""
        usage = self.data.get("usage")
        return WireUsage(usage) if isinstance(usage, dict) else None


class WireEvent(_View, frozen=True):
    """One line of the stream; which properties say something depends on its type."""

    @property
    def type(self) -> str:
        """The kind of line: `system`, `assistant`, `user`, `result` or another."""
        return _string(self.data.get("type")) or ""

    @property
    def subtype(self) -> str | None:
        """The kind of system line (`init`, …) or of result (`success`, …)."""
        return _string(self.data.get("subtype"))

    @property
    def session_id(self) -> str | None:
        """The session that the line belongs to."""
        return _string(self.data.get("session_id"))

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that an init line offers."""
        return _names(self.data.get("tools"))

    @property
    def mcp_servers(self) -> tuple[str, ...]:
        """The names of the MCP servers of an init line, connected or not."""
        return _names(self.data.get("mcp_servers"))

    @property
    def model(self) -> str | None:
        """The model that an init line names."""
        return _string(self.data.get("model"))

    @property
    def message(self) -> WireMessage | None:
        """The message of an assistant or user line."""
        message = self.data.get("message")
        return WireMessage(message) if isinstance(message, dict) else None

    @property
    def cost_usd(self) -> float | None:
        """The cost that a result tells, of the whole process so far."""
        total = _number(self.data.get("total_cost_usd"))
        return _number(self.data.get("cost_usd")) if total is None else total

    @property
    def duration_ms(self) -> float | None:
        """How long the turn of a result took, in milliseconds."""
        return _number(self.data.get("duration_ms"))

    @property
    def duration_api_ms(self) -> float | None:
        """How long the API took of it; counted over the whole process, so it may be longer."""
        return _number(self.data.get("duration_api_ms"))

    @property
    def is_error(self) -> bool:
        """Whether a result says that it failed; its subtype alone does not tell."""
        return self.data.get("is_error") is True

    @property
    def num_turns(self) -> int | None:
        """The turns that a result counts."""
        return _integer(self.data.get("num_turns"))

    @property
    def result(self) -> str | None:
        """The last words of a result."""
        return _string(self.data.get("result"))

    @property
    def usage(self) -> WireUsage | None:
        """The tokens of a result's turn; those of a message are in `message.usage`."""
        usage = self.data.get("usage")
        return WireUsage(usage) if isinstance(usage, dict) else None

    def text_content(self) -> str:
        """The words of all text blocks, joined as they are."""
        return "".join(block.text for block in self._blocks() if block.is_text)

    def tool_use_blocks(self) -> tuple[ContentBlock, ...]:
        """The tool calls of an assistant line; no other has any."""
        calls = self._blocks() if self.type == "assistant" else ()
        return tuple(block for block in calls if block.is_tool_use)

    def tool_result_blocks(self) -> tuple[ContentBlock, ...]:
        """The results of tool calls."""
        return tuple(block for block in self._blocks() if block.is_tool_result)

    def _blocks(self) -> tuple[ContentBlock, ...]:
        message = self.message
        return () if message is None else message.content


class UnreadableLine(msgspec.Struct, frozen=True):
    """Stands in the stream for a line that is no message; offset and length find its bytes."""

    offset: int
    length: int
    preview: str
    reason: Literal["not_json", "oversized", "truncated", "too_deep", "not_an_object"]


def read(
    chunks: Iterable[bytes], *, cap: int = DEFAULT_CAP
) -> Iterator[WireEvent | UnreadableLine]:
    """Read a stream from bytes cut anywhere, such as an open binary file, which is not closed.

    Blank lines are passed over. An array of objects in one line is as many events.
    """
    lines = _Lines(cap)
    for chunk in chunks:
        yield from lines.feed(chunk)
    yield from lines.close()


async def read_async(
    chunks: AsyncIterable[bytes], *, cap: int = DEFAULT_CAP
) -> AsyncGenerator[WireEvent | UnreadableLine, None]:
    """Read a stream as `read` does, as its bytes come.

    It takes the source over: whatever happens, cancellation too, a source that has `aclose` is
    closed when the iteration ends. Leave it early inside `contextlib.aclosing`.
    """
    lines = _Lines(cap)
    async with AsyncExitStack() as closing:
        _close_later(closing, chunks)
        pieces = aiter(chunks)
        if pieces is not chunks:
            _close_later(closing, pieces)
        async for chunk in pieces:
            for found in lines.feed(chunk):
                yield found
        for found in lines.close():
            yield found


def _close_later(closing: AsyncExitStack, source: Any) -> None:
    if (close := getattr(source, "aclose", None)) is not None:
        closing.push_async_callback(close)


class _Lines:
    """Turns bytes into events, and knows how far into the stream it is."""

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
        found = _messages(line)
        if isinstance(found, Unreadable):
            cut = not newline and isinstance(line, bytes) and _is_cut(line, found)
            reason = "truncated" if cut else found.reason
            yield UnreadableLine(self._offset, size - newline, found.preview or "", reason)
        else:
            yield from map(WireEvent, found)
        self._offset += size


def _messages(line: Line) -> list[dict[str, Json]] | Unreadable:
    """The objects in a line, mostly one; none in a blank one."""
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


def _is_cut(line: bytes, found: Unreadable) -> bool:
    """Whether a last line looks like the beginning of a message: its end was lost."""
    begun = line.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")
    return begun and found.reason == "not_json"


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


def _words(value: Json, *, indent: int) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()


def _brief(value: Json, depth: int = _DEEPEST_SHOWN) -> str:
    """A value in few words, however large it is."""
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
