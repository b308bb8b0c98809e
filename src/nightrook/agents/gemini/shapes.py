"""The shapes of Gemini CLI's messages, with the fields that are used; others are skipped."""

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
    """How a call ended; `output` is what a terminal would show, not what the model got."""

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
