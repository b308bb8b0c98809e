"""The shapes of the lines of Qwen Code's stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Shape


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


class Message(Shape):
    parts: list[Part] | None = None


class Usage(Shape):
    promptTokenCount: Count = 0
    candidatesTokenCount: Count = 0
    thoughtsTokenCount: Count = 0
    cachedContentTokenCount: Count = 0


class Entry(Shape):
    """What all lines have."""

    uuid: str | None = None
    sessionId: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    message: Message | None = None


class User(Entry, tag="user"):
    """A prompt."""


class Assistant(Entry, tag="assistant"):
    model: str | None = None
    usageMetadata: Usage | None = None


class CallResult(Shape):
    callId: str | None = None
    status: str | None = None
    resultDisplay: msgspec.Raw = NOTHING


class ToolResult(Entry, tag="tool_result"):
    toolCallResult: CallResult | None = None


class Telemetry(Shape):
    """What Qwen Code notes about a request; its fields have underscores."""

    name: str | None = msgspec.field(default=None, name="event.name")
    response_id: str | None = None
    model: str | None = None
    input_token_count: Count = 0
    output_token_count: Count = 0
    cached_content_token_count: Count = 0
    thoughts_token_count: Count = 0
    error: str | None = None
    error_message: str | None = None


class Payload(Shape):
    uiEvent: Telemetry | None = None
    info: msgspec.Raw = NOTHING


class System(Entry, tag="system"):
    subtype: str | None = None
    systemPayload: Payload | None = None
