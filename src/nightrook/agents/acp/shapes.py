"""The shapes of messages that an agent writes, with the fields that are used.

JSON-RPC 2.0, one message per line. A message with a method and an id is a request to us, one
without an id a notification, and one without a method the response to a request of ours.
"""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count

VERSION = 1
"""The version of the protocol that we speak."""

ASKS = "session/request_permission"
"""The request for permission."""


Id = str | int | float | None
"""The id of a request, which its response repeats."""


class _Shape(msgspec.Struct, gc=False, rename="camel"):
    """A part of a message."""


class Block(_Shape):
    """A text; an image, a sound or a link has none."""

    text: str | None = None


class Part(_Shape):
    """A part of a call's content: a block, a change to a file, or a terminal."""

    type: str | None = None
    content: Block | None = None
    path: str | None = None
    old_text: str | None = None
    new_text: str | None = None


class Location(_Shape):
    path: str | None = None


class Cost(_Shape):
    amount: float | None = None
    currency: str | None = None


class Tokens(_Shape):
    """Tokens; the input of some agents includes cached ones."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    cached_read_tokens: Count | None = None
    cached_write_tokens: Count | None = None
    thought_tokens: Count | None = None


class Entry(_Shape):
    """A step of a plan."""

    content: str | None = None
    status: str | None = None


class _Update(_Shape, tag_field="sessionUpdate"):
    """The payload of a session's notification."""


class _Chunk(_Update):
    content: Block | None = None
    message_id: str | None = None
    meta: msgspec.Raw = msgspec.field(default=NOTHING, name="_meta")


class UserChunk(_Chunk, tag="user_message_chunk"):
    pass


class TextChunk(_Chunk, tag="agent_message_chunk"):
    pass


class ThoughtChunk(_Chunk, tag="agent_thought_chunk"):
    pass


AnyChunk = UserChunk | TextChunk | ThoughtChunk
"""A piece of a text."""


class _CallFields(_Shape):
    tool_call_id: str | None = None
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: msgspec.Raw = NOTHING  # parts; most messages repeat those before
    locations: msgspec.Raw = NOTHING
    raw_input: msgspec.Raw = NOTHING
    raw_output: msgspec.Raw = NOTHING
    meta: msgspec.Raw = msgspec.field(default=NOTHING, name="_meta")


class Call(_CallFields):
    """A call in a request for permission."""


class CallStart(_CallFields, tag_field="sessionUpdate", tag="tool_call"):
    pass


class CallUpdate(_CallFields, tag_field="sessionUpdate", tag="tool_call_update"):
    pass


AnyCall = Call | CallStart | CallUpdate
"""A call, wherever it is named."""


class Plan(_Update, tag="plan"):
    entries: list[Entry] | None = None


class ModeUpdate(_Update, tag="current_mode_update"):
    current_mode_id: str | None = None


class UsageUpdate(_Update, tag="usage_update"):
    """The used part of the context, and the cost of the session so far."""

    used: Count | None = None
    size: Count | None = None
    cost: Cost | None = None
    meta: msgspec.Raw = msgspec.field(default=NOTHING, name="_meta")


class CommandsUpdate(_Update, tag="available_commands_update"):
    pass


class SessionInfoUpdate(_Update, tag="session_info_update"):
    pass


class ConfigUpdate(_Update, tag="config_option_update"):
    pass


Update = (
    UserChunk
    | TextChunk
    | ThoughtChunk
    | CallStart
    | CallUpdate
    | Plan
    | ModeUpdate
    | UsageUpdate
    | CommandsUpdate
    | SessionInfoUpdate
    | ConfigUpdate
)


class UpdateParams(_Shape):
    session_id: str | None = None
    update: Update | None = None


class Option(_Shape):
    """One of the answers to a request for permission."""

    option_id: str | None = None
    name: str | None = None
    kind: str | None = None


class PermissionParams(_Shape):
    session_id: str | None = None
    tool_call: Call | None = None
    options: list[Option] | None = None


class SessionUpdate(_Shape, tag_field="method", tag="session/update"):
    params: UpdateParams = msgspec.field(default_factory=UpdateParams)


class PermissionRequest(_Shape, tag_field="method", tag=ASKS):
    id: Id = None
    params: PermissionParams = msgspec.field(default_factory=PermissionParams)


Shapes = SessionUpdate | PermissionRequest
"""All messages with a method that have events of their own."""


class AgentInfo(_Shape):
    name: str | None = None
    version: str | None = None


class AuthMethod(_Shape):
    description: str | None = None


class SessionCapabilities(_Shape):
    resume: dict[str, msgspec.Raw] | None = None


class AgentCapabilities(_Shape):
    load_session: bool | None = None
    session_capabilities: SessionCapabilities | None = None


class Mode(_Shape):
    id: str | None = None


class Modes(_Shape):
    current_mode_id: str | None = None
    available_modes: list[Mode] | None = None


class Model(_Shape):
    model_id: str | None = None
    name: str | None = None


class Models(_Shape):
    current_model_id: str | None = None
    available_models: list[Model] | None = None


class Choice(_Shape):
    value: str | None = None


class ConfigOption(_Shape):
    """A setting of a session; its category names its meaning."""

    id: str | None = None
    category: str | None = None
    current_value: msgspec.Raw = NOTHING
    options: list[Choice] | None = None


class TokenCount(_Shape):
    """Tokens of a turn and a model, as one of several agents spells the fields."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cached_write_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    input_snake: Count | None = msgspec.field(default=None, name="input_tokens")
    output_snake: Count | None = msgspec.field(default=None, name="output_tokens")

    def tokens(self) -> Tokens:
        """The same as other tokens."""
        written = self.cached_write_tokens
        return Tokens(
            input_tokens=self.input_snake if self.input_tokens is None else self.input_tokens,
            output_tokens=self.output_snake if self.output_tokens is None else self.output_tokens,
            total_tokens=self.total_tokens,
            cached_read_tokens=self.cached_input_tokens,
            cached_write_tokens=self.cache_write_input_tokens if written is None else written,
            thought_tokens=self.reasoning_output_tokens,
        )


class ModelUsage(_Shape, rename=None):
    """A model's usage in a turn, requests of subagents and other side requests included."""

    model: str | None = None
    token_count: TokenCount | None = None


class Quota(_Shape, rename=None):
    model_usage: list[ModelUsage] | None = None


class ResultMeta(_Shape):
    quota: Quota | None = None


class Result(_Shape):
    """The result of any request of ours; each method fills some of the fields."""

    protocol_version: msgspec.Raw = NOTHING
    agent_info: AgentInfo | None = None
    agent_capabilities: AgentCapabilities | None = None
    auth_methods: list[AuthMethod] | None = None
    session_id: str | None = None
    modes: Modes | None = None
    models: Models | None = None
    config_options: list[ConfigOption] | None = None
    stop_reason: str | None = None
    usage: Tokens | None = None
    meta: ResultMeta | None = msgspec.field(default=None, name="_meta")


class RpcError(_Shape):
    code: int | None = None
    message: str | None = None
    data: msgspec.Raw = NOTHING


class Response(_Shape):
    """The response to a request of ours; it has no method."""

    id: Id = None
    result: Result | None = None
    error: msgspec.Raw = NOTHING


def speaks(hello: Result) -> bool:
    """True if an agent's first response names the version of the protocol that we speak."""
    return bytes(hello.protocol_version).strip() == str(VERSION).encode()
