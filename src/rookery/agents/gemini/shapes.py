"""The parts of each message that the reader uses; what is not named here is skipped."""

import msgspec

from rookery.adapter.shapes import NOTHING, Count, Milliseconds, Shape


class Init(Shape, tag="init"):
    session_id: str | None = None
    model: str | None = None


class Message(Shape, tag="message"):
    """What the user said, whole, or a piece of what the model says."""

    role: str | None = None
    content: str | None = None
    delta: bool | None = None


class ToolUse(Shape, tag="tool_use"):
    tool_name: str | None = None
    tool_id: str | None = None
    parameters: msgspec.Raw = NOTHING


class Complaint(Shape):
    type: str | None = None
    message: str | None = None


class ToolResult(Shape, tag="tool_result"):
    """How a call ended; `output` is what a terminal would show, not what the model saw."""

    tool_id: str | None = None
    status: str | None = None
    output: str | None = None
    error: Complaint | None = None


class Error(Shape, tag="error"):
    severity: str | None = None
    message: str | None = None


class ModelStats(Shape):
    """The tokens of a model; `input_tokens` has the cached ones in it, `input` has not."""

    total_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached: Count | None = None


class Stats(Shape):
    duration_ms: Milliseconds | None = None
    models: dict[str, ModelStats] | None = None


class Result(Shape, tag="result"):
    status: str | None = None
    error: Complaint | None = None
    stats: Stats | None = None
