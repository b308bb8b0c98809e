"""The shapes of messages of `codex app-server`, with the fields that are used.

Items have the same names as in `exec --json` wherever they mean the same, so that the same
functions read them.
"""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, ExitCode
from nightrook.agents.codex.shapes import AgentState, McpResult, Search


class _Shape(msgspec.Struct, gc=False, rename="camel"):
    """A part of a message."""


class ErrorDetail(_Shape):
    message: str | None = None
    additional_details: str | None = None


class Kind(_Shape):
    """The kind of a change to a file; only here a field is spelled in snake case."""

    type: str = ""
    move_path: str | None = msgspec.field(default=None, name="move_path")


class Change(_Shape):
    path: str | None = None
    kind: Kind | None = None
    diff: str | None = None


class _Item(_Shape, tag_field="type"):
    """A text, a thought or a tool call."""

    id: str | None = None


class UserMessage(_Item, tag="userMessage"):
    pass


class AgentMessage(_Item, tag="agentMessage"):
    text: str | None = None


class Reasoning(_Item, tag="reasoning"):
    summary: list[str] | None = None
    content: list[str] | None = None


class CommandExecution(_Item, tag="commandExecution"):
    command: str | None = None
    aggregated_output: str | None = None
    exit_code: ExitCode | None = None
    status: str | None = None


class FileChange(_Item, tag="fileChange"):
    changes: list[Change] | None = None
    status: str | None = None


class McpToolCall(_Item, tag="mcpToolCall"):
    server: str | None = None
    tool: str | None = None
    arguments: msgspec.Raw = NOTHING
    result: McpResult | None = None
    error: ErrorDetail | None = None
    status: str | None = None


class WebSearch(_Item, tag="webSearch"):
    query: str | None = None
    action: Search | None = None


class CollabToolCall(_Item, tag="collabAgentToolCall"):
    tool: str | None = None
    receiver_thread_ids: list[str] | None = None
    prompt: str | None = None
    agents_states: dict[str, AgentState] | None = None
    status: str | None = None


class ContextCompaction(_Item, tag="contextCompaction"):
    pass


class ImageView(_Item, tag="imageView"):
    path: str | None = None


Item = (
    UserMessage
    | AgentMessage
    | Reasoning
    | CommandExecution
    | FileChange
    | McpToolCall
    | WebSearch
    | CollabToolCall
    | ImageView
    | ContextCompaction
)


class Thread(_Shape):
    id: str | None = None
    model: str | None = None
    cwd: str | None = None
    cli_version: str | None = None


class Turn(_Shape):
    id: str | None = None
    status: str | None = None
    error: ErrorDetail | None = None
    duration_ms: Count | None = None


class Step(_Shape):
    step: str | None = None
    status: str | None = None


class Goal(_Shape):
    """A goal for which Codex works in as many turns as it takes."""

    objective: str | None = None
    status: str | None = None


class Tokens(_Shape):
    """Tokens of one request or of the whole thread; `input_tokens` includes the cached ones."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None


class TokenUsage(_Shape):
    total: Tokens | None = None
    last: Tokens | None = None


class Window(_Shape):
    """A limit of the provider for a period of time."""

    used_percent: float | None = None
    window_duration_mins: Count | None = None
    resets_at: Count | None = None


class RateLimits(_Shape):
    primary: Window | None = None
    secondary: Window | None = None
    rate_limit_reached_type: str | None = None


class Piece(_Shape):
    """The parameters of most messages: a piece of an item."""

    thread_id: str | None = None
    item_id: str | None = None
    delta: str | None = None
    summary_index: Count | None = None


class Holder(_Shape):
    """The parameters of messages with an item."""

    thread_id: str | None = None
    item: Item | None = None


class NetworkContext(_Shape):
    """The host that a command wants to reach."""

    host: str | None = None
    protocol: str | None = None


class Params(_Shape):
    """The parameters of other notifications and requests; each method fills some of them."""

    thread_id: str | None = None
    item_id: str | None = None
    thread: Thread | None = None
    turn: Turn | None = None
    plan: list[Step] | None = None
    goal: Goal | None = None
    token_usage: TokenUsage | None = None
    rate_limits: RateLimits | None = None
    error: ErrorDetail | None = None
    will_retry: bool | None = None
    command: str | None = None
    kind: str | None = None
    cwd: str | None = None
    environment_id: str | None = None
    grant_root: str | None = None
    network_approval_context: NetworkContext | None = None
    reason: str | None = None
    from_model: str | None = None
    to_model: str | None = None


class Warned(_Shape):
    """The parameters of a warning; its error is a text, where others have an object."""

    message: str | None = None
    summary: str | None = None
    name: str | None = None
    status: str | None = None
    error: str | None = None


class _Message(_Shape, tag_field="method"):
    """A notification, or with an id a request that waits for a response."""

    params: Params = msgspec.field(default_factory=Params)
    id: str | int | None = None


class _Delta(_Shape, tag_field="method"):
    params: Piece = msgspec.field(default_factory=Piece)


class _OfItem(_Shape, tag_field="method"):
    params: Holder = msgspec.field(default_factory=Holder)


class _Warning(_Shape, tag_field="method"):
    params: Warned = msgspec.field(default_factory=Warned)


class ThreadStarted(_Message, tag="thread/started"):
    pass


class TurnStarted(_Message, tag="turn/started"):
    pass


class TurnCompleted(_Message, tag="turn/completed"):
    pass


class ItemStarted(_OfItem, tag="item/started"):
    pass


class ItemCompleted(_OfItem, tag="item/completed"):
    pass


class MessageDelta(_Delta, tag="item/agentMessage/delta"):
    pass


class SummaryDelta(_Delta, tag="item/reasoning/summaryTextDelta"):
    pass


class SummaryPart(_Delta, tag="item/reasoning/summaryPartAdded"):
    pass


class OutputDelta(_Delta, tag="item/commandExecution/outputDelta"):
    pass


class PlanUpdated(_Message, tag="turn/plan/updated"):
    pass


class GoalUpdated(_Message, tag="thread/goal/updated"):
    pass


class GoalCleared(_Message, tag="thread/goal/cleared"):
    pass


class UsageUpdated(_Message, tag="thread/tokenUsage/updated"):
    pass


class LimitsUpdated(_Message, tag="account/rateLimits/updated"):
    pass


class ErrorReported(_Message, tag="error"):
    pass


class ModelRerouted(_Message, tag="model/rerouted"):
    pass


class CommandApproval(_Message, tag="item/commandExecution/requestApproval"):
    pass


class FileApproval(_Message, tag="item/fileChange/requestApproval"):
    pass


class PermissionsRequest(_Message, tag="item/permissions/requestApproval"):
    pass


class UserInputRequest(_Message, tag="item/tool/requestUserInput"):
    pass


class ElicitationRequest(_Shape, tag="mcpServer/elicitation/request", tag_field="method"):
    id: str | int | None = None


class ToolRequest(_Shape, tag="item/tool/call", tag_field="method"):
    id: str | int | None = None


class TokensRequest(_Shape, tag="account/chatgptAuthTokens/refresh", tag_field="method"):
    id: str | int | None = None


class AttestationRequest(_Shape, tag="attestation/generate", tag_field="method"):
    id: str | int | None = None


class ConfigWarning(_Warning, tag="configWarning"):
    pass


class Warning(_Warning, tag="warning"):
    pass


class DeprecationNotice(_Warning, tag="deprecationNotice"):
    pass


class McpStartup(_Warning, tag="mcpServer/startupStatus/updated"):
    pass


SILENT = (
    "thread/status/changed",
    "thread/settings/updated",
    "thread/name/updated",
    "remoteControl/status/changed",
    "turn/diff/updated",  # all changes of the turn so far; each has its own message, too
    "serverRequest/resolved",
    "item/commandExecution/terminalInteraction",
    "item/fileChange/patchUpdated",
)
"""Messages without events: other messages report the same."""

Shapes = (
    ThreadStarted
    | TurnStarted
    | TurnCompleted
    | ItemStarted
    | ItemCompleted
    | MessageDelta
    | SummaryDelta
    | SummaryPart
    | OutputDelta
    | PlanUpdated
    | GoalUpdated
    | GoalCleared
    | UsageUpdated
    | LimitsUpdated
    | ErrorReported
    | ModelRerouted
    | CommandApproval
    | FileApproval
    | PermissionsRequest
    | UserInputRequest
    | ElicitationRequest
    | ToolRequest
    | TokensRequest
    | AttestationRequest
    | ConfigWarning
    | Warning
    | DeprecationNotice
    | McpStartup
)
"""All messages with events, by `method`."""


class Result(_Shape):
    """The result of a request of ours."""

    thread: Thread | None = None
    turn: Turn | None = None


class Response(_Shape):
    """The response to a request of ours; it has no method."""

    id: str | int | None = None
    result: Result | None = None
    error: ErrorDetail | None = None
