"""The shapes of Droid's messages and stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape


class System(Shape, tag="system"):
    """The start of a process."""

    subtype: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    tools: list[str] | None = None


class Message(Shape, tag="message"):
    """The prompt, or a whole text of the model."""

    role: str | None = None
    id: str | None = None
    text: str | None = None


class Reasoning(Shape, tag="reasoning"):
    id: str | None = None
    text: str | None = None


class ToolCall(Shape, tag="tool_call"):
    """The start of a call; `messageId` is the message of the model that made it."""

    id: str | None = None
    messageId: str | None = None
    toolName: str | None = None
    parameters: msgspec.Raw = NOTHING


class ToolError(Shape):
    message: str | None = None


class ToolResult(Shape, tag="tool_result"):
    """The end of a call; its `messageId` is another than that of the call."""

    id: str | None = None
    isError: bool | None = None
    value: str | None = None
    error: ToolError | None = None


class Error(Shape, tag="error"):
    """A failure; `source` is `cli` if the run ends with it."""

    source: str | None = None
    message: str | None = None


class Usage(Shape):
    """The tokens of a process; `input_tokens` excludes the cached ones."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    thinking_tokens: Count | None = None


class Completion(Shape, tag="completion"):
    """The end of a turn."""

    finalText: str | None = None
    durationMs: Milliseconds | None = None
    usage: Usage | None = None


class Result(Shape, tag="result"):
    """The only message of `--output-format json`."""

    subtype: str | None = None
    session_id: str | None = None
    is_error: bool | None = None
    duration_ms: Milliseconds | None = None
    result: str | None = None
    usage: Usage | None = None


# Stored sessions


class SessionStart(Shape, tag="session_start"):
    id: str | None = None
    cwd: str | None = None


class Part(Shape):
    """A part of a message; which fields it has depends on its type."""

    type: str | None = None
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: msgspec.Raw = NOTHING


class Content(Shape):
    role: str | None = None
    content: list[Part] | None = None
    visibility: str | None = None


class StoredMessage(Shape, tag="message"):
    id: str | None = None
    timestamp: str | float | None = None
    message: Content | None = None


class Outcome(Shape, tag="agent_turn_outcome"):
    reason: str | None = None


class Sum(Shape):
    """The tokens of a session."""

    inputTokens: Count = 0
    outputTokens: Count = 0
    cacheCreationTokens: Count = 0
    cacheReadTokens: Count = 0
    thinkingTokens: Count = 0


class Counted(Shape):
    """The fields that the ledger reads: the time and place in a line, the sums in the document."""

    type: str | None = None
    timestamp: str | float | None = None
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    tokenUsage: Sum | None = None
    childInclusiveTokenUsageBySessionId: dict[str, msgspec.Raw] | None = None
