"""The shapes of Claude Code's messages and stored lines, with the fields that are used.

Other fields are skipped. A field that a version renames has to be changed here alone.
"""

from typing import Annotated, Any

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Shape

Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class CacheCreation(Shape):
    """The tokens written to the cache, by how long it is kept."""

    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class OutputDetails(Shape):
    thinking_tokens: Count | None = None


class ServerToolUse(Shape):
    web_search_requests: Count | None = None


class Usage(Shape):
    """The tokens of a message or a turn, in the order in which they are written."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None
    output_tokens: Count | None = None
    server_tool_use: ServerToolUse | None = None
    speed: str | None = None
    output_tokens_details: OutputDetails | None = None


class Block(Shape):
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


class CountedMessage(Shape):
    """The fields of a message that the ledger reads, without its content."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    usage: Usage | None = None


class Message(CountedMessage):
    content: str | list[Block] | None = None
    stop_reason: str | None = None


class Decision(Shape):
    decision: str | None = None


class ResultMeta(Shape):
    id: str | None = None
    permission_decision: Decision | None = None


class Assistant(Shape, tag="assistant"):
    message: Message | None = None
    parent_tool_use_id: str | None = None
    error: str | None = None
    api_error: str | None = None
    api_error_type: str | None = None


class Hunk(Shape):
    lines: list[str] | None = None


class ListedTask(Shape):
    id: str | None = None
    task_id: str | None = None
    subject: str | None = None
    status: str | None = None


class StatusChange(Shape):
    to: str | None = None


class UseResult(Shape):
    """A tool's structured result, with files, plans and reports of subagents."""

    type: str | None = None
    filePath: str | None = None
    notebook_path: str | None = None
    content: str | list[Block] | Block | None = None
    structuredPatch: list[Hunk] | None = None
    task: ListedTask | None = None
    tasks: list[ListedTask] | None = None
    taskId: str | None = None
    statusChange: StatusChange | None = None
    status: str | None = None
    agentId: str | None = None
    description: str | None = None


class User(Shape, tag="user"):
    message: Message | None = None
    parent_tool_use_id: str | None = None
    tool_use_result: UseResult | str | list[msgspec.Raw] | None = None
    tool_result_meta: list[ResultMeta] | None = None
    isReplay: bool | None = None
    isSynthetic: bool | None = None


class ToolResult(Shape, tag="tool_result"):
    """A tool result in a separate message: only the oldest samples have it."""

    tool_use_id: str | None = None
    content: str | list[Block] | Block | None = None
    is_error: Any = None
    error: str | None = None
    parent_tool_use_id: str | None = None


class TextDelta(Shape, tag="text_delta"):
    text: str


class ThinkingDelta(Shape, tag="thinking_delta"):
    thinking: str


class InputDelta(Shape, tag="input_json_delta"):
    partial_json: str


class SignatureDelta(Shape, tag="signature_delta"):
    """A signature that proves the origin of the thoughts."""


class CitationsDelta(Shape, tag="citations_delta"):
    """A citation of a source."""


class BlockDelta(Shape, tag="content_block_delta"):
    index: Count = 0
    delta: TextDelta | ThinkingDelta | InputDelta | SignatureDelta | CitationsDelta | None = None


class BlockStart(Shape, tag="content_block_start"):
    index: Count = 0
    content_block: Block | None = None


class BlockStop(Shape, tag="content_block_stop"):
    """The end of a block; the complete block is in an assistant message."""


class MessageStart(Shape, tag="message_start"):
    message: Message | None = None


class StopDelta(Shape):
    stop_reason: str | None = None


class MessageDelta(Shape, tag="message_delta"):
    delta: StopDelta | None = None
    usage: Usage | None = None


class MessageStop(Shape, tag="message_stop"):
    """The end of a message."""


class Ping(Shape, tag="ping"):
    """A keep-alive of the API."""


class StreamEvent(Shape, tag="stream_event"):
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


class PermissionDenial(Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: msgspec.Raw = NOTHING


class Result(Shape, tag="result"):
    subtype: str | None = None
    is_error: Any = None
    result: str | None = None
    errors: list[str] | None = None
    stop_reason: str | msgspec.UnsetType | None = msgspec.UNSET
    terminal_reason: str | None = None
    local_command: str | None = None
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


class ModelUsage(Shape):
    inputTokens: Count | None = None
    outputTokens: Count | None = None
    cacheReadInputTokens: Count | None = None
    cacheCreationInputTokens: Count | None = None
    cacheCreationEphemeral5mInputTokens: Count | None = None
    cacheCreationEphemeral1hInputTokens: Count | None = None
    thinkingTokens: Count | None = None
    webSearchRequests: Count | None = None
    costUSD: float | None = None
    costBasis: str | None = None
    contextWindow: Count | None = None


class LimitWindow(Shape):
    status: str | None = None
    utilization: float | None = None
    resetsAt: float | None = None


class RateLimitInfo(Shape):
    status: str | None = None
    rateLimitType: str | None = None
    utilization: float | None = None
    resetsAt: float | None = None
    overageStatus: str | None = None
    unifiedWindows: msgspec.Raw = NOTHING


class RateLimitEvent(Shape, tag="rate_limit_event"):
    rate_limit_info: RateLimitInfo | None = None


class ToolProgress(Shape, tag="tool_progress"):
    tool_use_id: str | None = None
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: Seconds | None = None
    heartbeat: bool | None = None


class ToolUseSummary(Shape, tag="tool_use_summary"):
    summary: str | None = None


class Rule(Shape):
    toolName: str | None = None
    ruleContent: str | None = None


class Suggestion(Shape):
    type: str | None = None
    rules: list[Rule] | None = None
    behavior: str | None = None
    mode: str | None = None


class Request(Shape):
    subtype: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None
    input: msgspec.Raw = NOTHING
    decision_reason: str | None = None
    message: str | None = None
    permission_suggestions: list[Suggestion] | None = None


class ControlRequest(Shape, tag="control_request"):
    request_id: str | None = None
    request: Request | None = None


class Response(Shape):
    subtype: str | None = None
    error: str | None = None


class ControlResponse(Shape, tag="control_response"):
    response: Response | None = None


class AuthStatus(Shape, tag="auth_status"):
    error: str | None = None


class ConversationReset(Shape, tag="conversation_reset"):
    """The conversation was cleared; the session id changes."""


class CommandLifecycle(Shape, tag="command_lifecycle"):
    """A queued prompt changed its state."""


class KeepAlive(Shape, tag="keep_alive"):
    """A keep-alive of the control protocol."""


class ControlCancelRequest(Shape, tag="control_cancel_request"):
    """A question was withdrawn."""


class PromptSuggestion(Shape, tag="prompt_suggestion"):
    """A suggestion for the next prompt."""


class System(Shape, tag="system"):
    """Any system message; its subtype decides which shape below reads the rest."""

    subtype: str | None = None


class McpServer(Shape):
    name: str | None = None
    status: str | None = None


class Init(Shape):
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    claude_code_version: str | None = None
    tools: list[str] | None = None
    mcp_servers: list[McpServer | str] | None = None
    permissionMode: str | None = None
    apiKeySource: str | None = None


class Status(Shape):
    status: str | None = None
    permissionMode: str | None = None
    compact_result: str | None = None
    compact_error: str | None = None
    compact_output_chars: Count | None = None


class ApiRetry(Shape):
    attempt: Count | None = None
    max_retries: Count | None = None
    retry_delay_ms: Seconds | None = None
    error_status: Count | None = None
    error: str | None = None


class CompactMetadata(Shape):
    trigger: str | None = None
    pre_tokens: Count | None = None
    post_tokens: Count | None = None


class CompactBoundary(Shape):
    compact_metadata: CompactMetadata | None = None


class Hook(Shape):
    hook_id: str | None = None
    hook_name: str | None = None
    output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: Count | None = None
    outcome: str | None = None


class TaskUsage(Shape):
    total_tokens: Count | None = None
    tool_uses: Count | None = None
    duration_ms: Seconds | None = None


class TaskPatch(Shape):
    status: str | None = None
    error: str | None = None


class Task(Shape):
    task_id: str | None = None
    tool_use_id: str | None = None
    task_type: str | None = None
    description: str | None = None
    is_backgrounded: bool | None = None
    status: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None
    patch: TaskPatch | None = None


class PermissionDenied(Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    message: str | None = None


class ModelSwitch(Shape):
    original_model: str | None = None
    fallback_model: str | None = None
    trigger: str | None = None
    content: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None


class Notice(Shape):
    """System messages that consist of a sentence."""

    content: str | None = None
    text: str | None = None
    level: str | None = None
    error: str | None = None
    error_code: str | None = None
    reason: str | None = None
    prevent_continuation: bool | None = None


# The lines of stored sessions


class Quota(Shape):
    status: str | None = None
    rateLimitType: str | None = None
    resetsAt: float | None = None


class Fork(Shape):
    sessionId: str | None = None


class StoredLine(Shape):
    """The fields of every line of a conversation, in the order in which they are written."""

    parentUuid: str | None = None
    isSidechain: bool | None = None
    requestId: str | None = None
    uuid: str | None = None
    timestamp: str | float | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    agentId: str | None = None


class CountedLine(StoredLine):
    """The fields that the ledger reads of any line."""

    type: str | None = None
    message: CountedMessage | None = None
    attributionAgent: str | None = None
    forkedFrom: str | Fork | None = None
    costUSD: float | None = None
    quotaLimits: Quota | None = None
    summary: str | None = None
    leafUuid: str | None = None
    aiTitle: str | None = None
    customTitle: str | None = None
    lastPrompt: str | None = None


class StoredAssistant(StoredLine, tag="assistant"):
    message: Message | None = None
    isApiErrorMessage: bool | None = None
    error: str | None = None
    apiError: str | None = None
    apiErrorType: str | None = None


class StoredResult(UseResult):
    """A tool's structured result; a command in the background is reported only here."""

    backgroundTaskId: str | None = None


class StoredUser(StoredLine, tag="user"):
    message: Message | None = None
    toolUseResult: StoredResult | str | list[msgspec.Raw] | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    permissionDecision: Decision | None = None


class StoredApiError(Shape):
    message: str | None = None
    formatted: str | None = None
    status: Count | None = None


class StoredCompactMetadata(Shape):
    trigger: str | None = None
    preTokens: Count | None = None
    postTokens: Count | None = None


class StoredSystem(StoredLine, tag="system"):
    """A system message; its subtype decides which of the fields it has."""

    subtype: str | None = None
    content: str | None = None
    level: str | None = None
    error: StoredApiError | None = None
    retryAttempt: Count | None = None
    maxRetries: Count | None = None
    retryInMs: Seconds | None = None
    compactMetadata: StoredCompactMetadata | None = None
    trigger: str | None = None
    originalModel: str | None = None
    fallbackModel: str | None = None
    apiRefusalCategory: str | None = None
    apiRefusalExplanation: str | None = None
    hookErrors: list[str] | None = None


class Attached(Shape):
    type: str = ""
    prompt: msgspec.Raw = NOTHING
    hookName: str | None = None
    stdout: str | None = None
    stderr: str | None = None


class Attachment(StoredLine, tag="attachment"):
    """Text that Claude Code itself adds to a conversation."""

    attachment: Attached | None = None


class QueueOperation(Shape, tag="queue-operation"):
    """A prompt was put into the queue or taken out; it is the first line of a fork."""

    timestamp: str | float | None = None


class Summary(Shape, tag="summary"):
    """The title of the conversation that ends with a line."""


class LastPrompt(Shape, tag="last-prompt"):
    """The last prompt, which is a title until there is a better one."""


class AiTitle(Shape, tag="ai-title"):
    """The title that a model made."""


class CustomTitle(Shape, tag="custom-title"):
    """The title that the user chose."""
