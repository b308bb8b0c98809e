"""The shapes of the lines of Codex's rollouts, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Milliseconds, Shape
from nightrook.agents.codex.shapes import AgentState, ErrorDetail, McpResult, Search


class Content(Shape):
    text: str | None = None


class Tokens(Shape):
    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0
    reasoning_output_tokens: Count = 0


class TokenInfo(Shape):
    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None


class PatchedFile(Shape):
    type: str | None = None
    content: str | None = None
    unified_diff: str | None = None
    move_path: str | None = None


class Item(Shape):
    """What was completed; its type says which of the fields it has."""

    type: str = ""
    id: str | None = None
    content: list[Content] | None = None
    summary_text: list[str] | None = None
    command: list[str] | str | None = None
    aggregated_output: str | None = None
    exit_code: ExitCode | None = None
    status: str | None = None
    changes: dict[str, PatchedFile] | None = None
    stderr: str | None = None
    server: str | None = None
    tool: str | None = None
    arguments: msgspec.Raw = NOTHING
    result: McpResult | None = None
    error: ErrorDetail | None = None
    query: str | None = None
    action: Search | None = None
    kind: str | None = None
    agent_thread_id: str | None = None
    receiver_thread_ids: list[str] | None = None
    agents_states: dict[str, AgentState] | None = None
    prompt: str | None = None


class Failure(Shape):
    message: str | None = None


class Payload(Shape):
    """What a line is about: its own type says which of the fields it has."""

    type: str = ""
    id: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    model: str | None = None
    approval_policy: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    output: msgspec.Raw = NOTHING
    item: Item | None = None
    message: str | None = None
    text: str | None = None
    last_agent_message: str | None = None
    error: Failure | None = None
    reason: str | None = None
    duration_ms: Milliseconds | None = None
    response_id: str | None = None
    usage: Tokens | None = None
    info: TokenInfo | None = None
    exit_code: ExitCode | None = None
    aggregated_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    success: bool | None = None


class Line(Shape):
    timestamp: str | None = None
    payload: Payload | None = None


class SessionMeta(Line, tag="session_meta"):
    """The first line."""


class TurnContext(Line, tag="turn_context"):
    """The model and the permissions of the next turn."""


class ResponseItem(Line, tag="response_item"):
    """What the model wrote, or got."""


class EventMessage(Line, tag="event_msg"):
    """What Codex reported while it worked."""


class UsageRecord(Line, tag="token_usage_record"):
    """The tokens of one request."""


class Compacted(Line, tag="compacted"):
    """The conversation was replaced by a summary."""
