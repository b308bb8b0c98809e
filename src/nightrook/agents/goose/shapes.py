"""The shapes of Goose's messages and stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Shape


class Block(Shape):
    """A block of a tool's result."""

    text: str | None = None


class Structured(Shape):
    """The fields that the shell tool reports in addition to its output."""

    exit_code: ExitCode | None = None


class CallValue(Shape):
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class Call(Shape):
    """A call, or the error of an invalid request for one: then the tool is not named."""

    value: CallValue | None = None
    error: str | None = None


class ResultValue(Shape, rename="camel"):
    content: list[Block] | None = None
    structured_content: Structured | None = None
    is_error: bool | None = None


class Result(Shape):
    status: str | None = None
    value: ResultValue | None = None
    error: str | None = None


class Part(Shape, rename="camel"):
    """A part of a message; which fields it has depends on its type."""

    type: str | None = None
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    kind: str | None = None
    message: str | None = None
    msg: str | None = None
    notification_type: str | None = None
    tool_call: Call | None = None
    tool_result: Result | None = None


class Inference(Shape, rename="camel"):
    """The model that wrote a message."""

    requested_model: str | None = None


class Metadata(Shape, rename="camel"):
    """Facts about a message; those that Goose itself wrote name no model."""

    inference: Inference | None = None
    output_token_limit_reached: bool | None = None


class Content(Shape):
    id: str | None = None
    role: str | None = None
    content: list[Part] | None = None
    metadata: msgspec.Raw = NOTHING  # decoded only where it matters: most messages are pieces


class Message(Shape, tag="message"):
    message: Content | None = None


class Log(Shape):
    message: str | None = None


class Notification(Shape, tag="notification"):
    """A progress message of a call; `extension_id` is its id."""

    extension_id: str | None = None
    log: Log | None = None


class Error(Shape, tag="error"):
    error: str | None = None


class Complete(Shape, tag="complete"):
    """The end of a run; its tokens and cost are those of the whole session."""

    total_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    cost_usd: float | None = None


# Stored sessions


class Tokens(Shape, rename="camel"):
    """The tokens of a request; the input includes the cached ones."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class StoredMetadata(Shape, rename="camel"):
    user_visible: bool | None = None
    inference: Inference | None = None
    usage: Tokens | None = None


class Session(Shape, tag="session"):
    id: str | None = None
    at: str | None = None
    cwd: str | None = None


class StoredMessage(Shape, tag="message"):
    at: float | None = None
    message: Content | None = None
