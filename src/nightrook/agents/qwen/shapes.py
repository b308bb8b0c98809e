"""The shapes of Qwen Code's messages, with the fields that are used; others are skipped."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape


class Usage(Shape):
    """Tokens; `input_tokens` includes the cached ones."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


class Block(Shape):
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


class Inner(Shape):
    id: str | None = None
    model: str | None = None
    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None


class Assistant(Shape, tag="assistant"):
    message: Inner | None = None
    parent_tool_use_id: str | None = None


class User(Shape, tag="user"):
    message: Inner | None = None
    parent_tool_use_id: str | None = None


class Delta(Shape):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class MessageStart(Shape, tag="message_start"):
    """The start of a message; its texts and thoughts have separate ids."""


class BlockStart(Shape, tag="content_block_start"):
    index: Count = 0
    content_block: Block | None = None


class BlockDelta(Shape, tag="content_block_delta"):
    index: Count = 0
    delta: Delta | None = None


class BlockStop(Shape, tag="content_block_stop"):
    """The end of a block; the complete block follows."""


class MessageStop(Shape, tag="message_stop"):
    """The end of a message."""


class GoalState(Shape, tag="goal_state"):
    """The state of the session's goal; also written if there is none."""


class Progress(Shape):
    message: str | None = None
    elapsedMs: Milliseconds | None = None


class ToolProgress(Shape, tag="tool_progress"):
    """The progress of an MCP tool, or of a command that writes nothing."""

    tool_use_id: str | None = None
    content: Progress | None = None


class StreamEvent(Shape, tag="stream_event"):
    event: (
        BlockDelta
        | BlockStart
        | BlockStop
        | GoalState
        | MessageStart
        | MessageStop
        | ToolProgress
        | None
    ) = None
    parent_tool_use_id: str | None = None


class McpServer(Shape):
    name: str | None = None
    status: str | None = None


class TaskUsage(Shape):
    total_tokens: Count | None = None
    tool_uses: Count | None = None
    duration_ms: Milliseconds | None = None


class SystemData(Shape):
    """The data of a system message: a task, a retry, another model, a worktree, or a notice."""

    task_id: str | None = None
    tool_use_id: str | None = None
    description: str | None = None
    subagent_type: str | None = None
    status: str | None = None
    usage: TaskUsage | None = None
    attempt: Count | None = None
    maxRetries: Count | None = None
    delayMs: Milliseconds | None = None
    reason: str | None = None
    preserveText: bool | None = None
    fromModel: str | None = None
    toModel: str | None = None
    statusCode: Count | None = None
    path: str | None = None
    notice: str | None = None
    message: str | None = None
    error: str | None = None


class System(Shape, tag="system"):
    """The start of a turn (`init`), the state of a background task, or a notice."""

    subtype: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    qwen_code_version: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[McpServer] | None = None
    permission_mode: str | None = None
    data: SystemData | None = None


class ErrorDetail(Shape):
    message: str | None = None


class Denied(Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: msgspec.Raw = NOTHING


class Result(Shape, tag="result"):
    subtype: str | None = None
    is_error: bool | None = None
    result: str | None = None
    error: ErrorDetail | None = None
    duration_ms: Milliseconds | None = None
    duration_api_ms: Milliseconds | None = None
    num_turns: Count | None = None
    usage: Usage | None = None
    permission_denials: list[Denied] | None = None
    structured_result: msgspec.Raw = NOTHING


Shapes = Assistant | User | StreamEvent | System | Result
"""Every type of message, by its `type`."""
