"""The shapes of Gemini CLI's messages and of its stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape


class Init(Shape, tag="init"):
    session_id: str | None = None
    model: str | None = None


class Message(Shape, tag="message"):
    """The user's prompt, or a piece of the model's text."""

    role: str | None = None
    content: str | None = None
    delta: bool | None = None


class ToolUse(Shape, tag="tool_use"):
    tool_name: str | None = None
    tool_id: str | None = None
    parameters: msgspec.Raw = NOTHING


class ErrorDetail(Shape):
    type: str | None = None
    message: str | None = None


class ToolResult(Shape, tag="tool_result"):
    """The end of a call; `output` is what a terminal would show, not what the model got."""

    tool_id: str | None = None
    status: str | None = None
    output: str | None = None
    error: ErrorDetail | None = None


class Error(Shape, tag="error"):
    severity: str | None = None
    message: str | None = None


class ModelStats(Shape):
    """The tokens of a model; `input_tokens` includes the cached ones, `input` does not."""

    total_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached: Count | None = None


class Stats(Shape):
    duration_ms: Milliseconds | None = None
    models: dict[str, ModelStats] | None = None


class Result(Shape, tag="result"):
    status: str | None = None
    error: ErrorDetail | None = None
    stats: Stats | None = None


# Stored sessions


class Part(Shape):
    text: str | None = None


class Response(Shape):
    output: str | None = None
    error: str | None = None


class FunctionResponse(Shape):
    response: Response | None = None


class Returned(Shape):
    functionResponse: FunctionResponse | None = None


class Call(Shape):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING
    result: list[Returned] | None = None
    status: str | None = None
    resultDisplay: msgspec.Raw = NOTHING


class Thought(Shape):
    subject: str | None = None
    description: str | None = None


class Tokens(Shape):
    input: Count = 0
    output: Count = 0
    cached: Count = 0
    thoughts: Count = 0
    tool: Count = 0


class StoredMessage(Shape):
    id: str | None = None
    timestamp: str | float | None = None
    content: msgspec.Raw = NOTHING


class Prompt(StoredMessage, tag="user"):
    """A prompt, the results of tools, or text that the agent adds."""


class Request(StoredMessage, tag="gemini"):
    """The fields that the ledger reads of an answer of the model."""

    tokens: Tokens | None = None
    model: str | None = None


class Answer(Request, tag="gemini"):
    thoughts: list[Thought] | None = None
    toolCalls: list[Call] | None = None


class Info(StoredMessage, tag="info"):
    """A notice."""


class Warning(StoredMessage, tag="warning"):
    """A warning."""


class Failure(StoredMessage, tag="error"):
    """A failure of the agent."""


AnyMessage = Prompt | Answer | Info | Warning | Failure


class Facts(Shape):
    """Facts about the session, or changes to them: a line without a type."""

    type: None = None
    timestamp: str | float | None = None
    sessionId: str | None = None
    startTime: str | float | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[msgspec.Raw] | None = None


class Line(Facts):
    changed: Facts | None = msgspec.field(default=None, name="$set")
