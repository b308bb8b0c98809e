"""The shapes of Kimi Code's messages, with the fields that are used; others are skipped."""

import msgspec

from nightrook.adapter.shapes import Count, Milliseconds, Shape


class Function(Shape):
    """What is called; its arguments are JSON in a string."""

    name: str = ""
    arguments: str = ""


class Call(Shape):
    id: str = ""
    function: Function = msgspec.field(default_factory=Function)


class _Message(Shape, tag_field="role"):
    """A line of the stream."""


class Assistant(_Message, tag="assistant"):
    """A text of the model and its calls."""

    content: str | None = None
    tool_calls: list[Call] | None = None


class Tool(_Message, tag="tool"):
    """The result of a call."""

    tool_call_id: str | None = None
    content: str | None = None


class Meta(_Message, tag="meta"):
    """What Kimi Code says about itself; which fields it has depends on its type."""

    type: str | None = None
    version: str | None = None
    failed_attempt: Count | None = None
    max_attempts: Count | None = None
    delay_ms: Milliseconds | None = None
    error_message: str | None = None
    status_code: Count | None = None
    session_id: str | None = None


class Goal(msgspec.Struct, gc=False):
    """How a goal (`/goal …`) ended: the only message without a role."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
