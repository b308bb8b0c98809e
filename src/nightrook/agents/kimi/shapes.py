"""The shapes of Kimi Code's messages and stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape


class Function(Shape):
    """The function to call; its arguments are JSON in a string."""

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
    """A message about Kimi Code itself; its type determines which fields it has."""

    type: str | None = None
    version: str | None = None
    failed_attempt: Count | None = None
    max_attempts: Count | None = None
    delay_ms: Milliseconds | None = None
    error_message: str | None = None
    status_code: Count | None = None
    session_id: str | None = None


class Goal(msgspec.Struct, gc=False):
    """The end of a goal (`/goal …`): the only message without a role."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None


# Stored sessions


class Line(Shape):
    time: str | float | None = None


class Environment(Shape):
    cwd: str | None = None


class Profile(Line, tag="profile.bind"):
    profileName: str | None = None
    environmentDisclosure: Environment | None = None


class Words(Shape):
    type: str | None = None
    text: str | None = None
    think: str | None = None


class Origin(Shape):
    kind: str | None = None


class Prompt(Line, tag="turn.prompt"):
    input: list[Words] | None = None
    origin: Origin | None = None


class Request(Line, tag="llm.request"):
    model: str | None = None
    modelAlias: str | None = None


class Tokens(Shape, rename="camel"):
    input_other: Count | None = None
    output: Count | None = None
    input_cache_read: Count | None = None
    input_cache_creation: Count | None = None


class Use(Line, tag="usage.record"):
    """The tokens of a request; the model is an alias."""

    model: str | None = None
    usage: Tokens | None = None


class Result(Shape, rename="camel"):
    output: msgspec.Raw = NOTHING
    is_error: bool | None = None


class Event(Shape, rename="camel"):
    """A step of the loop; which fields it has depends on its type."""

    type: str | None = None
    uuid: str | None = None
    part: Words | None = None
    tool_call_id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING
    result: Result | None = None
    finish_reason: str | None = None


class LoopEvent(Line, tag="context.append_loop_event"):
    event: Event | None = None


class Failure(Shape):
    code: str | None = None
    message: str | None = None


class TurnEnd(Line, tag="turn.ended"):
    reason: str | None = None
    error: Failure | None = None


class Compaction(Line, tag="context.compacted"):
    """The context was summed up."""
