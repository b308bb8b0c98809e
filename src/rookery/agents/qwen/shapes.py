"""The parts of each message that the reader uses; what is not named here is skipped."""

from typing import Annotated

import msgspec

from rookery.core import salvage

# Beyond 2**53 no JSON writer agrees with another; a token count never is.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]

NOTHING = msgspec.Raw()
"""A raw part that the message does not have."""


def own(raw: msgspec.Raw) -> msgspec.Raw | None:
    """A raw part for an event; None if the message does not have it."""
    return None if raw is NOTHING else salvage.own(raw)


class _Shape(msgspec.Struct, gc=False):
    """A part of a message."""


class Usage(_Shape):
    """Tokens; those that were cached are part of `input_tokens`."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


class Block(_Shape):
    """A content block: text, thinking, tool_use or tool_result."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    content: str | None = None
    is_error: bool | None = None


class Said(_Shape):
    id: str | None = None
    model: str | None = None
    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None


class Assistant(_Shape, tag="assistant"):
    message: Said | None = None
    parent_tool_use_id: str | None = None


class User(_Shape, tag="user"):
    message: Said | None = None
    parent_tool_use_id: str | None = None


class Delta(_Shape):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class MessageStart(_Shape, tag="message_start"):
    """A message begins; its texts and thoughts will have ids of their own."""


class BlockStart(_Shape, tag="content_block_start"):
    index: Count = 0
    content_block: Block | None = None


class BlockDelta(_Shape, tag="content_block_delta"):
    index: Count = 0
    delta: Delta | None = None


class BlockStop(_Shape, tag="content_block_stop"):
    """A block is complete; the whole of it comes next."""


class MessageStop(_Shape, tag="message_stop"):
    """The model has said its last word of this message."""


class Progress(_Shape):
    message: str | None = None


class ToolProgress(_Shape, tag="tool_progress"):
    """A sign of life of an MCP tool."""

    tool_use_id: str | None = None
    content: Progress | None = None


class StreamEvent(_Shape, tag="stream_event"):
    event: (
        BlockDelta | BlockStart | BlockStop | MessageStart | MessageStop | ToolProgress | None
    ) = None
    parent_tool_use_id: str | None = None


class McpServer(_Shape):
    name: str | None = None
    status: str | None = None


class TaskUsage(_Shape):
    total_tokens: Count | None = None
    tool_uses: Count | None = None
    duration_ms: Milliseconds | None = None


class TaskData(_Shape):
    task_id: str | None = None
    tool_use_id: str | None = None
    description: str | None = None
    subagent_type: str | None = None
    status: str | None = None
    usage: TaskUsage | None = None


class System(_Shape, tag="system"):
    """The beginning of a turn (`init`), or what background tasks do."""

    subtype: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    qwen_code_version: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[McpServer] | None = None
    permission_mode: str | None = None
    data: TaskData | None = None


class Complaint(_Shape):
    message: str | None = None


class Denied(_Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: msgspec.Raw = NOTHING


class Result(_Shape, tag="result"):
    subtype: str | None = None
    is_error: bool | None = None
    result: str | None = None
    error: Complaint | None = None
    duration_ms: Milliseconds | None = None
    duration_api_ms: Milliseconds | None = None
    num_turns: Count | None = None
    usage: Usage | None = None
    permission_denials: list[Denied] | None = None
    structured_result: msgspec.Raw = NOTHING


Shapes = Assistant | User | StreamEvent | System | Result
"""Every type of message, by its `type`."""
