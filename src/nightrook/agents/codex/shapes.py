"""The shapes of messages of `codex exec --json` and of the lines of rollouts.

They have only the fields that are used. `app_server.shapes` has those of the app server.
"""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Milliseconds, Shape


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
    """The kind of a web search: `search`, `open_page`, `find_in_page`; `other` at first."""

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


# The lines of rollouts


class Content(Shape):
    text: str | None = None


class Tokens(Shape):
    """Tokens of a request or of the thread so far; `input_tokens` includes the cached ones."""

    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0
    reasoning_output_tokens: Count = 0
    total_tokens: Count = 0


class TokenInfo(Shape):
    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None
    model: str | None = None


class Window(Shape):
    used_percent: float | None = None
    window_minutes: float | None = None
    resets_at: float | str | None = None
    resets_in_seconds: float | None = None


class RateLimits(Shape):
    limit_id: str | None = None
    limit_name: str | None = None
    primary: Window | None = None
    secondary: Window | None = None
    plan_type: str | None = None


class Spawn(Shape):
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None


class Subagent(Shape):
    thread_spawn: Spawn | None = None
    other: str | None = None


class Source(Shape):
    subagent: str | Subagent | None = None


class Git(Shape):
    branch: str | None = None


class PatchedFile(Shape):
    type: str | None = None
    content: str | None = None
    unified_diff: str | None = None
    move_path: str | None = None


class StoredItem(Shape):
    """A completed item; its type determines which of the fields it has."""

    type: str = ""
    id: str | None = None
    content: list[Content] | None = None
    summary_text: list[str] | None = None
    command: list[str] | str | None = None
    aggregated_output: str | None = None
    exit_code: ExitCode | None = None
    status: str | None = None
    changes: dict[str, PatchedFile] | None = None
    stderr: str | None = None
    server: str | None = None
    tool: str | None = None
    arguments: msgspec.Raw = NOTHING
    result: McpResult | None = None
    error: ErrorDetail | None = None
    query: str | None = None
    action: Search | None = None
    kind: str | None = None
    agent_thread_id: str | None = None
    receiver_thread_ids: list[str] | None = None
    agents_states: dict[str, AgentState] | None = None
    prompt: str | None = None


class Payload(Shape):
    """The payload of a line: its own type determines which of the fields it has."""

    type: str = ""
    # session_meta
    id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    source: str | Source | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    git: Git | None = None
    # turn_context
    model: str | None = None
    approval_policy: str | None = None
    # token_usage_record
    thread_id: str | None = None
    response_id: str | None = None
    usage: Tokens | None = None
    thread_token_usage: Tokens | None = None
    # response_item
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    output: msgspec.Raw = NOTHING
    # event_msg
    info: TokenInfo | None = None
    rate_limits: RateLimits | None = None
    item: StoredItem | None = None
    message: str | None = None
    text: str | None = None
    last_agent_message: str | None = None
    error: ErrorDetail | None = None
    reason: str | None = None
    duration_ms: Milliseconds | None = None


class Line(Shape, tag_field="type"):
    timestamp: str | float | None = None
    payload: Payload | None = None


class SessionMeta(Line, tag="session_meta"):
    """The first line."""


class TurnContext(Line, tag="turn_context"):
    """The model and the permissions of the next turn."""


class ResponseItem(Line, tag="response_item"):
    """An item that the model wrote or received."""


class EventMessage(Line, tag="event_msg"):
    """An event that Codex reported while it worked."""


class UsageRecord(Line, tag="token_usage_record"):
    """The tokens of one request."""


class Compacted(Line, tag="compacted"):
    """The conversation was replaced by a summary."""
