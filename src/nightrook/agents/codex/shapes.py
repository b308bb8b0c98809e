"""The shapes of messages of `codex exec --json`, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Shape


class Usage(Shape):
    """Tokens of the whole thread; `input_tokens` includes the cached ones."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None


class ErrorDetail(Shape):
    message: str | None = None


class Block(Shape):
    """A content block of an MCP tool's result."""

    type: str = ""
    text: str | None = None


class McpResult(Shape):
    content: list[Block] | None = None


class Change(Shape):
    path: str | None = None
    kind: str | None = None


class Step(Shape):
    """One step of the plan; a step in progress is not completed either."""

    text: str | None = None
    completed: bool | None = None


class Search(Shape):
    """What a web search did: `search`, `open_page`, `find_in_page`; `other` at first."""

    type: str = ""
    query: str | None = None
    queries: list[str] | None = None
    url: str | None = None
    pattern: str | None = None


class AgentState(Shape):
    status: str | None = None
    message: str | None = None


class _Item(Shape, tag_field="type"):
    """A text, a thought or a tool call."""

    id: str | None = None


class AgentMessage(_Item, tag="agent_message"):
    text: str | None = None


class Reasoning(_Item, tag="reasoning"):
    text: str | None = None


class CommandStarted(_Item, tag="command_execution"):
    command: str | None = None


class CommandCompleted(_Item, tag="command_execution"):
    """Its command is that of the start."""

    aggregated_output: str | None = None
    exit_code: ExitCode | None = None
    status: str | None = None


class FileChange(_Item, tag="file_change"):
    changes: list[Change] | None = None
    status: str | None = None


class McpToolCall(_Item, tag="mcp_tool_call"):
    server: str | None = None
    tool: str | None = None
    arguments: msgspec.Raw = NOTHING
    result: McpResult | None = None
    error: ErrorDetail | None = None
    status: str | None = None


class WebSearch(_Item, tag="web_search"):
    """Its JSON contains the key `id` twice; the second one, from the API, is read."""

    query: str | None = None
    action: Search | None = None


class TodoList(_Item, tag="todo_list"):
    items: list[Step] | None = None


class CollabToolCall(_Item, tag="collab_tool_call"):
    tool: str | None = None
    receiver_thread_ids: list[str] | None = None
    prompt: str | None = None
    agents_states: dict[str, AgentState] | None = None
    status: str | None = None


class ErrorItem(_Item, tag="error"):
    message: str | None = None


_Other = (
    AgentMessage
    | Reasoning
    | FileChange
    | McpToolCall
    | WebSearch
    | TodoList
    | CollabToolCall
    | ErrorItem
)


class ThreadStarted(Shape, tag="thread.started", tag_field="type"):
    thread_id: str | None = None


class TurnStarted(Shape, tag="turn.started", tag_field="type"):
    pass


class ItemStarted(Shape, tag="item.started", tag_field="type"):
    item: CommandStarted | _Other


class ItemUpdated(Shape, tag="item.updated", tag_field="type"):
    item: CommandStarted | _Other


class ItemCompleted(Shape, tag="item.completed", tag_field="type"):
    item: CommandCompleted | _Other


class TurnCompleted(Shape, tag="turn.completed", tag_field="type"):
    usage: Usage | None = None


class TurnFailed(Shape, tag="turn.failed", tag_field="type"):
    error: ErrorDetail | None = None


class ErrorLine(Shape, tag="error", tag_field="type"):
    message: str | None = None


Shapes = (
    ThreadStarted
    | TurnStarted
    | ItemStarted
    | ItemUpdated
    | ItemCompleted
    | TurnCompleted
    | TurnFailed
    | ErrorLine
)
"""All messages, by `type`."""
