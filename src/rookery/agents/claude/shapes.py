"""The parts of each message that the reader uses; what is not named here is skipped."""

from typing import Annotated, Any

import msgspec

from rookery.adapter.shapes import NOTHING, Count

Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class _Shape(msgspec.Struct, gc=False):
    """A part of a message."""


class CacheCreation(_Shape):
    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class OutputDetails(_Shape):
    thinking_tokens: Count | None = None


class ServerToolUse(_Shape):
    web_search_requests: Count | None = None


class Usage(_Shape):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None
    output_tokens_details: OutputDetails | None = None
    server_tool_use: ServerToolUse | None = None


class Block(_Shape):
    """A content block; `content` of a tool result may itself be a list of blocks."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    thinking: str | None = None
    tool_use_id: str | None = None
    content: "str | list[Block] | Block | None" = None
    is_error: Any = None
    error: str | None = None
    error_code: str | None = None
    tool_name: str | None = None
    title: str | None = None
    url: str | None = None


class Message(_Shape):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None


class Decision(_Shape):
    decision: str | None = None


class ResultMeta(_Shape):
    id: str | None = None
    permission_decision: Decision | None = None


class Assistant(_Shape, tag="assistant"):
    message: Message | None = None
    parent_tool_use_id: str | None = None
    error: str | None = None
    api_error: str | None = None
    api_error_type: str | None = None


class Hunk(_Shape):
    lines: list[str] | None = None


class ListedTask(_Shape):
    id: str | None = None
    subject: str | None = None
    status: str | None = None


class StatusChange(_Shape):
    to: str | None = None


class UseResult(_Shape):
    """A tool's structured result: what files, plans and subagents' reports are read from."""

    type: str | None = None
    filePath: str | None = None
    notebook_path: str | None = None
    content: str | list[Block] | Block | None = None
    structuredPatch: list[Hunk] | None = None
    task: ListedTask | None = None
    tasks: list[ListedTask] | None = None
    taskId: str | None = None
    statusChange: StatusChange | None = None


class User(_Shape, tag="user"):
    message: Message | None = None
    parent_tool_use_id: str | None = None
    tool_use_result: UseResult | str | list[msgspec.Raw] | None = None
    tool_result_meta: list[ResultMeta] | None = None
    isReplay: bool | None = None
    isSynthetic: bool | None = None


class ToolResult(_Shape, tag="tool_result"):
    """A tool result as a message of its own: only the oldest samples have it."""

    tool_use_id: str | None = None
    content: str | list[Block] | Block | None = None
    is_error: Any = None
    error: str | None = None
    parent_tool_use_id: str | None = None


class TextDelta(_Shape, tag="text_delta"):
    text: str


class ThinkingDelta(_Shape, tag="thinking_delta"):
    thinking: str


class InputDelta(_Shape, tag="input_json_delta"):
    partial_json: str


class SignatureDelta(_Shape, tag="signature_delta"):
    """A proof that the thoughts are the model's."""


class CitationsDelta(_Shape, tag="citations_delta"):
    """A source of what is said."""


class BlockDelta(_Shape, tag="content_block_delta"):
    index: Count = 0
    delta: TextDelta | ThinkingDelta | InputDelta | SignatureDelta | CitationsDelta | None = None


class BlockStart(_Shape, tag="content_block_start"):
    index: Count = 0
    content_block: Block | None = None


class BlockStop(_Shape, tag="content_block_stop"):
    """A block is complete; the whole of it has come in an assistant message."""


class MessageStart(_Shape, tag="message_start"):
    message: Message | None = None


class StopDelta(_Shape):
    stop_reason: str | None = None


class MessageDelta(_Shape, tag="message_delta"):
    delta: StopDelta | None = None
    usage: Usage | None = None


class MessageStop(_Shape, tag="message_stop"):
    """The model has said its last word of this message."""


class Ping(_Shape, tag="ping"):
    """The API is alive."""


class StreamEvent(_Shape, tag="stream_event"):
    event: (
        BlockDelta
        | BlockStart
        | BlockStop
        | MessageStart
        | MessageDelta
        | MessageStop
        | Ping
        | None
    ) = None
    parent_tool_use_id: str | None = None


class PermissionDenial(_Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: msgspec.Raw = NOTHING


class Result(_Shape, tag="result"):
    subtype: str | None = None
    is_error: Any = None
    result: str | None = None
    errors: list[str] | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    duration_ms: Seconds | None = None
    duration_api_ms: Seconds | None = None
    num_turns: Count | None = None
    total_cost_usd: float | None = None
    cost_usd: float | None = None
    usage: Usage | None = None
    modelUsage: msgspec.Raw = NOTHING
    model_usage_since_last_result: msgspec.Raw = NOTHING
    permission_denials: list[PermissionDenial] | None = None
    structured_output: msgspec.Raw = NOTHING


class ModelUsage(_Shape):
    inputTokens: Count | None = None
    outputTokens: Count | None = None
    cacheReadInputTokens: Count | None = None
    cacheCreationInputTokens: Count | None = None
    cacheCreationEphemeral5mInputTokens: Count | None = None
    cacheCreationEphemeral1hInputTokens: Count | None = None
    thinkingTokens: Count | None = None
    webSearchRequests: Count | None = None
    costUSD: float | None = None
    contextWindow: Count | None = None


class LimitWindow(_Shape):
    status: str | None = None
    utilization: float | None = None
    resetsAt: float | None = None


class RateLimitInfo(_Shape):
    status: str | None = None
    rateLimitType: str | None = None
    utilization: float | None = None
    resetsAt: float | None = None
    overageStatus: str | None = None
    unifiedWindows: msgspec.Raw = NOTHING


class RateLimitEvent(_Shape, tag="rate_limit_event"):
    rate_limit_info: RateLimitInfo | None = None


class ToolProgress(_Shape, tag="tool_progress"):
    tool_use_id: str | None = None
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: Seconds | None = None
    heartbeat: bool | None = None


class ToolUseSummary(_Shape, tag="tool_use_summary"):
    summary: str | None = None


class Rule(_Shape):
    toolName: str | None = None
    ruleContent: str | None = None


class Suggestion(_Shape):
    type: str | None = None
    rules: list[Rule] | None = None
    behavior: str | None = None
    mode: str | None = None


class Request(_Shape):
    subtype: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None
    input: msgspec.Raw = NOTHING
    decision_reason: str | None = None
    message: str | None = None
    permission_suggestions: list[Suggestion] | None = None


class ControlRequest(_Shape, tag="control_request"):
    request_id: str | None = None
    request: Request | None = None


class Response(_Shape):
    subtype: str | None = None
    error: str | None = None


class ControlResponse(_Shape, tag="control_response"):
    response: Response | None = None


class AuthStatus(_Shape, tag="auth_status"):
    error: str | None = None


class ConversationReset(_Shape, tag="conversation_reset"):
    """The conversation was cleared; the session id changes."""


class CommandLifecycle(_Shape, tag="command_lifecycle"):
    """A queued prompt moved on."""


class KeepAlive(_Shape, tag="keep_alive"):
    """Nothing happened."""


class ControlCancelRequest(_Shape, tag="control_cancel_request"):
    """A question was withdrawn."""


class PromptSuggestion(_Shape, tag="prompt_suggestion"):
    """What the user might ask next."""


class System(_Shape, tag="system"):
    """Any system message; its subtype says which shape below reads the rest."""

    subtype: str | None = None


class McpServer(_Shape):
    name: str | None = None
    status: str | None = None


class Init(_Shape):
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    claude_code_version: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[McpServer | str] | None = None
    permissionMode: str | None = None
    apiKeySource: str | None = None


class Status(_Shape):
    status: str | None = None
    permissionMode: str | None = None
    compact_result: str | None = None
    compact_error: str | None = None
    compact_output_chars: Count | None = None


class ApiRetry(_Shape):
    attempt: Count | None = None
    max_retries: Count | None = None
    retry_delay_ms: Seconds | None = None
    error_status: Count | None = None
    error: str | None = None


class CompactMetadata(_Shape):
    trigger: str | None = None
    pre_tokens: Count | None = None
    post_tokens: Count | None = None


class CompactBoundary(_Shape):
    compact_metadata: CompactMetadata | None = None


class Hook(_Shape):
    hook_id: str | None = None
    hook_name: str | None = None
    output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: Count | None = None
    outcome: str | None = None


class TaskUsage(_Shape):
    total_tokens: Count | None = None
    tool_uses: Count | None = None
    duration_ms: Seconds | None = None


class TaskPatch(_Shape):
    status: str | None = None
    error: str | None = None


class Task(_Shape):
    task_id: str | None = None
    tool_use_id: str | None = None
    task_type: str | None = None
    description: str | None = None
    is_backgrounded: bool | None = None
    status: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None
    patch: TaskPatch | None = None


class PermissionDenied(_Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    message: str | None = None


class ModelSwitch(_Shape):
    original_model: str | None = None
    fallback_model: str | None = None
    trigger: str | None = None
    content: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None


class Words(_Shape):
    """System messages whose use is a sentence."""

    content: str | None = None
    text: str | None = None
    level: str | None = None
    error: str | None = None
    error_code: str | None = None
    reason: str | None = None


Shapes = (
    Assistant
    | User
    | StreamEvent
    | System
    | Result
    | ToolResult
    | RateLimitEvent
    | ToolProgress
    | ToolUseSummary
    | ControlRequest
    | ControlResponse
    | AuthStatus
    | ConversationReset
    | CommandLifecycle
    | KeepAlive
    | ControlCancelRequest
    | PromptSuggestion
)
"""Every type of message, by its `type`."""
