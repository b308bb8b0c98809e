"""The shapes of Qwen Code's messages and stored lines, with the fields that are used.

Other fields are skipped. `adapter.stream_json` has what its stream shares with other agents.
"""

import msgspec

from nightrook.adapter import stream_json
from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape
from nightrook.adapter.stream_json import (
    BlockDelta,
    BlockStart,
    BlockStop,
    Counters,
    MessageStart,
    MessageStop,
)


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


class System(stream_json.System):
    """The start of a turn (`init`), the state of a background task, or a notice."""

    qwen_code_version: str | None = None
    data: SystemData | None = None


class ErrorDetail(Shape):
    message: str | None = None


class Denied(Shape):
    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: msgspec.Raw = NOTHING


class Result(stream_json.Result):
    error: ErrorDetail | None = None
    duration_api_ms: Milliseconds | None = None
    usage: Counters | None = None
    permission_denials: list[Denied] | None = None
    structured_result: msgspec.Raw = NOTHING


# The lines of stored sessions


class FunctionCall(Shape):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING


class Response(Shape):
    output: str | None = None
    error: str | None = None


class FunctionResponse(Shape):
    id: str | None = None
    name: str | None = None
    response: Response | None = None


class Part(Shape):
    text: str | None = None
    thought: bool | None = None
    functionCall: FunctionCall | None = None
    functionResponse: FunctionResponse | None = None


class StoredMessage(Shape):
    parts: list[Part] | None = None


class StoredCounters(Counters):
    """The tokens of an answer; those of the stream have other names."""

    input_tokens: Count = msgspec.field(default=0, name="promptTokenCount")
    output_tokens: Count = msgspec.field(default=0, name="candidatesTokenCount")
    cache_read_input_tokens: Count = msgspec.field(default=0, name="cachedContentTokenCount")
    thinking_tokens: Count = msgspec.field(default=0, name="thoughtsTokenCount")


class Fork(Shape):
    sessionId: str | None = None


class StoredLine(Shape):
    """The fields of all lines."""

    uuid: str | None = None
    sessionId: str | None = None
    timestamp: str | float | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    version: str | None = None
    forkedFrom: Fork | None = None


class StoredUser(StoredLine, tag="user"):
    """A prompt, or with a subtype a notice to the model."""

    subtype: str | None = None
    message: StoredMessage | None = None


class CountedAnswer(StoredLine, tag="assistant"):
    """The fields that the ledger reads of an answer."""

    model: str | None = None
    usageMetadata: StoredCounters | None = None


class StoredAssistant(CountedAnswer):
    message: StoredMessage | None = None


class CallResult(Shape):
    callId: str | None = None
    status: str | None = None
    resultDisplay: msgspec.Raw = NOTHING


class StoredToolResult(StoredLine, tag="tool_result"):
    message: StoredMessage | None = None
    toolCallResult: CallResult | None = None


class Telemetry(Counters):
    """Qwen Code's telemetry about a request; a response has the tokens of it."""

    name: str | None = msgspec.field(default=None, name="event.name")
    response_id: str | None = None
    model: str | None = None
    subagent_name: str | None = None
    input_tokens: Count = msgspec.field(default=0, name="input_token_count")
    output_tokens: Count = msgspec.field(default=0, name="output_token_count")
    cache_read_input_tokens: Count = msgspec.field(default=0, name="cached_content_token_count")
    thinking_tokens: Count = msgspec.field(default=0, name="thoughts_token_count")
    error: str | None = None
    error_message: str | None = None


class Payload(Shape):
    uiEvent: Telemetry | None = None
    customTitle: str | None = None


class StoredSystem(StoredLine, tag="system"):
    subtype: str | None = None
    systemPayload: Payload | None = None
