"""The parts of each message that the reader uses; what is not named here is skipped."""

from typing import Annotated

import msgspec

from rookery.core import salvage

# Beyond 2**53 no JSON writer agrees with another; a token count never is.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]

NOTHING = msgspec.Raw()
"""A raw part that the message does not have."""


def own(raw: msgspec.Raw) -> msgspec.Raw | None:
    """A raw part for an event; None if the message does not have it."""
    return None if raw is NOTHING else salvage.own(raw)


class _Shape(msgspec.Struct, gc=False):
    """A part of a message."""


class Init(_Shape, tag="init"):
    session_id: str | None = None
    model: str | None = None


class Message(_Shape, tag="message"):
    """What the user said, whole, or a piece of what the model says."""

    role: str | None = None
    content: str | None = None
    delta: bool | None = None


class ToolUse(_Shape, tag="tool_use"):
    tool_name: str | None = None
    tool_id: str | None = None
    parameters: msgspec.Raw = NOTHING


class Complaint(_Shape):
    type: str | None = None
    message: str | None = None


class ToolResult(_Shape, tag="tool_result"):
    """How a call ended; `output` is what a terminal would show, not what the model saw."""

    tool_id: str | None = None
    status: str | None = None
    output: str | None = None
    error: Complaint | None = None


class Error(_Shape, tag="error"):
    severity: str | None = None
    message: str | None = None


class ModelStats(_Shape):
    """The tokens of a model; `input_tokens` has the cached ones in it, `input` has not."""

    total_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached: Count | None = None


class Stats(_Shape):
    duration_ms: Milliseconds | None = None
    models: dict[str, ModelStats] | None = None


class Result(_Shape, tag="result"):
    status: str | None = None
    error: Complaint | None = None
    stats: Stats | None = None


Shapes = Init | Message | ToolUse | ToolResult | Error | Result
"""Every type of message, by its `type`."""
