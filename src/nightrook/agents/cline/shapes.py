"""The shapes of Cline's messages, with the fields that are used; others are skipped.

`accumulated`, the whole text so far, comes with every piece and is skipped.
"""

from typing import Annotated

import msgspec
from msgspec import field

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape

Dollars = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Update(Shape):
    """Output of a running command."""

    chunk: str | None = None


class Part(Shape):
    text: str | None = None


class SubagentUsage(Shape):
    """The usage of a subagent; its input includes the cached tokens."""

    inputTokens: Count | None = None
    outputTokens: Count | None = None


class Output(Shape):
    """The return value of a call: of a command or file, an MCP tool, a subagent, or an error."""

    result: str | None = None
    error: str | None = None
    success: bool | None = None
    content: list[Part] | None = None
    isError: bool | None = None
    text: str | None = None
    usage: SubagentUsage | None = None


class Failure(Shape):
    message: str | None = None


class Event(Shape, tag_field="type"):
    """An action of an agent; nothing says which agent."""


class ContentStart(Event, tag="content_start"):
    """A piece of a text or thought, or the start of a call."""

    contentType: str | None = None
    text: str | None = None
    reasoning: str | None = None
    redacted: bool | None = None
    toolName: str | None = None
    toolCallId: str | None = None
    input: msgspec.Raw = NOTHING


class ContentUpdate(Event, tag="content_update"):
    toolCallId: str | None = None
    update: Update = field(default_factory=Update)


class ContentEnd(Event, tag="content_end"):
    """A whole text or thought, or the end of a call."""

    contentType: str | None = None
    text: str | None = None
    reasoning: str | None = None
    toolName: str | None = None
    toolCallId: str | None = None
    output: Output | list[Output] | str | None = None
    error: str | None = None


class UsageEvent(Event, tag="usage"):
    """The tokens of an agent so far; its input includes the cached tokens."""

    totalInputTokens: Count | None = None
    totalOutputTokens: Count | None = None
    totalCacheReadTokens: Count | None = None
    totalCacheWriteTokens: Count | None = None
    totalCost: Dollars | None = None


class ErrorEvent(Event, tag="error"):
    error: Failure = field(default_factory=Failure)
    errorClass: str | None = None
    recoverable: bool | None = None


class NoticeDetail(Shape):
    kind: str | None = None
    phase: str | None = None
    tokensBefore: Count | None = None
    tokensAfter: Count | None = None


class NoticeEvent(Event, tag="notice"):
    message: str | None = None
    metadata: NoticeDetail = field(default_factory=NoticeDetail)


class IterationStart(Event, tag="iteration_start"):
    pass


class IterationEnd(Event, tag="iteration_end"):
    pass


class Done(Event, tag="done"):
    pass


AnyEvent = (
    ContentStart
    | ContentUpdate
    | ContentEnd
    | UsageEvent
    | ErrorEvent
    | NoticeEvent
    | IterationStart
    | IterationEnd
    | Done
)


class HookEvent(Shape, tag="hook_event"):
    """A step of an agent that hooks are called for."""

    hookEventName: str | None = None
    parentAgentId: str | None = None


class AgentEvent(Shape, tag="agent_event"):
    event: AnyEvent = field(default_factory=Done)


class Model(Shape):
    id: str | None = None


class RunResult(Shape, tag="run_result"):
    """The end of the run."""

    finishReason: str | None = None
    iterations: Count | None = None
    durationMs: Milliseconds | None = None
    text: str | None = None
    model: Model = field(default_factory=Model)


class RunAborted(Shape, tag="run_aborted"):
    """The run was aborted, although it may have ended well before."""

    reason: str | None = None
    message: str | None = None
