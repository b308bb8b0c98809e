"""The shapes of Amp's messages, with the fields that are used; others are skipped."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape


class Usage(Shape):
    """Tokens of a message; `input_tokens` includes the cached ones."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    output_tokens: Count | None = None


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


class Inner(Shape):
    """The message itself; it has neither an id nor a model."""

    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None


class McpServer(Shape):
    name: str | None = None
    status: str | None = None


class System(Shape, tag="system"):
    subtype: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[McpServer] | None = None


class User(Shape, tag="user"):
    message: Inner | None = None
    parent_tool_use_id: str | None = None


class Assistant(Shape, tag="assistant"):
    message: Inner | None = None
    parent_tool_use_id: str | None = None


class Result(Shape, tag="result"):
    subtype: str | None = None
    is_error: bool | None = None
    result: str | None = None
    error: str | None = None
    duration_ms: Milliseconds | None = None
    num_turns: Count | None = None
