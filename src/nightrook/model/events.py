"""The neutral events, the same for all agents; the adapters in agents/ make them."""

from typing import TYPE_CHECKING, Literal

import msgspec

FORMAT_VERSION = 1
"""Version of the event format; it increases when a saved record would be read differently."""

if TYPE_CHECKING:
    Json = msgspec.Raw | None
else:
    # msgspec 0.22 cannot decode `Raw | None`, but accepts None as the default of a plain Raw.
    Json = msgspec.Raw

ToolKind = Literal[
    "read",
    "list",
    "search",
    "edit",
    "delete",
    "move",
    "execute",
    "fetch",
    "subagent",
    "plan",
    "ask",
    "skill",
    "think",
    "other",
]
Status = Literal["ok", "error", "denied", "cancelled", "timed_out", "orphaned"]
TaskKind = Literal["subagent", "command", "other"]
ReplayedKind = Literal["message", "text", "thinking", "tool"]
Change = Literal["add", "modify", "delete", "move"]
Level = Literal["info", "warning", "error"]
ErrorKind = Literal[
    "auth",
    "quota",
    "rate",
    "overload",
    "network",
    "context",
    "policy",
    "crash",
    "config",
    "internal",
]


class _Part(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A value inside an event."""


class McpServer(_Part, frozen=True, kw_only=True):
    """A tool server that the agent knows."""

    name: str
    status: str | None = None


class PlanItem(_Part, frozen=True, kw_only=True):
    """One step of the agent's plan."""

    text: str
    status: str | None = None


class Usage(_Part, frozen=True, kw_only=True):
    """Tokens of one message, turn or session; cache figures are not part of `input`."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    reasoning: int | None = None
    web_searches: int | None = None


class ModelUsage(_Part, frozen=True, kw_only=True):
    """What one model used and cost, as the agent adds it up."""

    model: str
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    reasoning: int | None = None
    web_searches: int | None = None
    cost_usd: float | None = None
    context_window: int | None = None


class TaskUsage(_Part, frozen=True, kw_only=True):
    """What a task used so far."""

    tokens: int | None = None
    tool_uses: int | None = None
    duration_s: float | None = None


class Denial(_Part, frozen=True, kw_only=True):
    """A tool call that was not permitted, as the turn's result lists it."""

    tool_id: str | None = None
    name: str | None = None
    input: Json = None
    fix: str | None = None


class UnknownField(_Part, frozen=True, kw_only=True):
    """A field that this version of nightrook does not know, and how often it was seen."""

    type: str
    field: str
    count: int


class _Event(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type"):
    """The base of all events: frozen, keyword-only; None means that the agent did not report it."""


class SessionStarted(_Event, tag="session_started", frozen=True, kw_only=True):
    """A session began or was resumed; once per session id."""

    session: str | None = None
    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    tools: tuple[str, ...] | None = None
    mcp_servers: tuple[McpServer, ...] | None = None
    permission_mode: str | None = None
    credential: str | None = None


class TurnStarted(_Event, tag="turn_started", frozen=True, kw_only=True):
    """The agent began to work on a prompt, a finished background task or a schedule."""

    origin: str | None = None


class UserMessage(_Event, tag="user_message", frozen=True, kw_only=True):
    """A message to the model that is no tool result: echoed prompt, nudge, subagent's task."""

    text: str
    replay: bool | None = None
    synthetic: bool | None = None
    parent: str | None = None


class Replayed(_Event, tag="replayed", frozen=True, kw_only=True):
    """A message, text, thought or call of an earlier turn, repeated when its session was resumed.

    It is not news: it counts neither as an answer nor as a call, and costs nothing.
    """

    kind: ReplayedKind
    id: str | None = None
    name: str | None = None
    text: str | None = None


class TextDelta(_Event, tag="text_delta", frozen=True, kw_only=True):
    """A piece of a text that is still being written; Text with the same id supersedes it."""

    id: str
    text: str
    parent: str | None = None


class Text(_Event, tag="text", frozen=True, kw_only=True):
    """A whole block of what the agent said."""

    id: str
    text: str
    parent: str | None = None


class ThinkingDelta(_Event, tag="thinking_delta", frozen=True, kw_only=True):
    """A piece of reasoning that is still being written."""

    id: str
    text: str
    parent: str | None = None


class Thinking(_Event, tag="thinking", frozen=True, kw_only=True):
    """A whole block of reasoning; `redacted` when the agent hides its text."""

    id: str
    text: str | None = None
    redacted: bool | None = None
    parent: str | None = None


class ToolStarted(_Event, tag="tool_started", frozen=True, kw_only=True):
    """The agent called a tool; ToolFinished with the same id ends it."""

    id: str
    name: str
    kind: ToolKind
    title: str | None = None
    input: Json = None
    server: str | None = None
    tool: str | None = None
    subagent: str | None = None
    parent: str | None = None


class ToolInputDelta(_Event, tag="tool_input_delta", frozen=True, kw_only=True):
    """A piece of the input of a tool call that is still being written, as JSON text.

    An empty piece with the `name` of the tool reports that the model begins to write the call.
    """

    id: str
    json: str
    name: str | None = None
    parent: str | None = None


class ToolProgress(_Event, tag="tool_progress", frozen=True, kw_only=True):
    """A sign of life of a running tool."""

    id: str
    elapsed_s: float | None = None
    output: str | None = None


class ToolFinished(_Event, tag="tool_finished", frozen=True, kw_only=True):
    """A tool call ended; exactly one for each ToolStarted by the time the stream closes."""

    id: str
    status: Status
    name: str | None = None
    kind: ToolKind | None = None
    output: str | None = None
    error: str | None = None
    exit_code: int | None = None
    parent: str | None = None


class FileChanged(_Event, tag="file_changed", frozen=True, kw_only=True):
    """A tool changed a file; `added` and `removed` count lines."""

    path: str
    change: Change | None = None
    added: int | None = None
    removed: int | None = None
    tool_id: str | None = None


class PlanChanged(_Event, tag="plan_changed", frozen=True, kw_only=True):
    """The agent's list of steps, whole, after a change."""

    items: tuple[PlanItem, ...]


class ModeChanged(_Event, tag="mode_changed", frozen=True, kw_only=True):
    """The agent entered or left a mode such as planning."""

    mode: str


class TaskStarted(_Event, tag="task_started", frozen=True, kw_only=True):
    """Work that has a life of its own began: a subagent, a long or background command."""

    id: str
    kind: TaskKind | None = None
    title: str | None = None
    tool_id: str | None = None
    background: bool | None = None


class TaskProgress(_Event, tag="task_progress", frozen=True, kw_only=True):
    """What a task does now and has used so far."""

    id: str
    kind: TaskKind | None = None
    title: str | None = None
    tool_id: str | None = None
    usage: TaskUsage | None = None


class TaskFinished(_Event, tag="task_finished", frozen=True, kw_only=True):
    """A task ended; exactly one for each TaskStarted by the time the stream closes."""

    id: str
    status: Status
    kind: TaskKind | None = None
    title: str | None = None
    tool_id: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None


class PermissionRequested(_Event, tag="permission_requested", frozen=True, kw_only=True):
    """The agent waits for somebody to allow a tool call, or to answer; an answer must name `id`."""

    id: str | None = None
    tool_id: str | None = None
    name: str | None = None
    input: Json = None
    reason: str | None = None
    fix: str | None = None


class PermissionDenied(_Event, tag="permission_denied", frozen=True, kw_only=True):
    """A tool call was not permitted; `fix` is the rule or the `--permission` to let it pass."""

    tool_id: str | None = None
    name: str | None = None
    input: Json = None
    reason: str | None = None
    fix: str | None = None


class HookStarted(_Event, tag="hook_started", frozen=True, kw_only=True):
    """A hook of the user's began."""

    id: str
    hook: str | None = None


class HookFinished(_Event, tag="hook_finished", frozen=True, kw_only=True):
    """A hook of the user's ended."""

    id: str
    hook: str | None = None
    ok: bool | None = None
    output: str | None = None


class UsageReported(_Event, tag="usage_reported", frozen=True, kw_only=True):
    """Tokens of one message, turn or session; a later, more final figure replaces an earlier.

    `cost_usd` is what the agent itself says that these tokens cost.
    """

    message_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    scope: Literal["message", "turn", "session"]
    semantics: Literal["snapshot", "final", "cumulative"]
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    reasoning: int | None = None
    web_searches: int | None = None
    cost_usd: float | None = None
    parent: str | None = None


class LimitReported(_Event, tag="limit_reported", frozen=True, kw_only=True):
    """How much of a provider's limit is used; `rejected` means that it stops the work."""

    window: str | None = None
    status: Literal["allowed", "warning", "rejected"] | None = None
    used: float | None = None
    resets_at: float | None = None
    overage: str | None = None


class Retrying(_Event, tag="retrying", frozen=True, kw_only=True):
    """A call to the model failed and will be tried again after `delay_s`."""

    attempt: int | None = None
    max_attempts: int | None = None
    delay_s: float | None = None
    status: int | None = None
    reason: str | None = None


class ContextCompacted(_Event, tag="context_compacted", frozen=True, kw_only=True):
    """The conversation was summarised to make room."""

    trigger: str | None = None
    before_tokens: int | None = None
    after_tokens: int | None = None


class ModelChanged(_Event, tag="model_changed", frozen=True, kw_only=True):
    """Another model answers from here on."""

    before: str | None = None
    after: str | None = None
    reason: str | None = None


class Notice(_Event, tag="notice", frozen=True, kw_only=True):
    """Something the agent's program tells the user."""

    level: Level
    text: str


class Error(_Event, tag="error", frozen=True, kw_only=True):
    """Something failed; only the turn's end says whether it was fatal."""

    kind: ErrorKind
    message: str | None = None
    retryable: bool | None = None
    needs_payment: bool | None = None
    """True if no credit is left: unlike other quotas, it does not come back by itself."""


class TurnFinished(_Event, tag="turn_finished", frozen=True, kw_only=True):
    """A turn ended; `ok` only if the agent says so without contradiction.

    `models` are totals that may hold what a resumed session spent earlier; `spent` is what was
    spent since the result before, or since this process began.
    """

    ok: bool
    text: str | None = None
    stop_reason: str | None = None
    reason: str | None = None
    errors: tuple[str, ...] | None = None
    denials: tuple[Denial, ...] | None = None
    duration_s: float | None = None
    api_duration_s: float | None = None
    turns: int | None = None
    cost_usd: float | None = None
    cost_semantics: Literal["turn", "cumulative"] | None = None
    usage: Usage | None = None
    models: tuple[ModelUsage, ...] | None = None
    spent: tuple[ModelUsage, ...] | None = None
    structured: Json = None


class Unknown(_Event, tag="unknown", frozen=True, kw_only=True):
    """A message of a kind this version of nightrook does not know, whole."""

    name: str | None = None
    raw: Json = None


class Unreadable(_Event, tag="unreadable", frozen=True, kw_only=True):
    """A line that is no message; the record's offset and length find it in the raw log."""

    reason: Literal["not_json", "oversized", "truncated", "too_deep", "not_an_object"]
    preview: str | None = None


class StreamClosed(_Event, tag="stream_closed", frozen=True, kw_only=True):
    """The last event of every stream, and what was counted on the way."""

    results: int
    truncated: bool
    open_tools: int
    lines: int
    blank: int
    silent: int
    unknown_fields: tuple[UnknownField, ...]


Event = (
    SessionStarted
    | TurnStarted
    | UserMessage
    | Replayed
    | TextDelta
    | Text
    | ThinkingDelta
    | Thinking
    | ToolStarted
    | ToolInputDelta
    | ToolProgress
    | ToolFinished
    | FileChanged
    | PlanChanged
    | ModeChanged
    | TaskStarted
    | TaskProgress
    | TaskFinished
    | PermissionRequested
    | PermissionDenied
    | HookStarted
    | HookFinished
    | UsageReported
    | LimitReported
    | Retrying
    | ContextCompacted
    | ModelChanged
    | Notice
    | Error
    | TurnFinished
    | Unknown
    | Unreadable
    | StreamClosed
)
"""Any event."""
