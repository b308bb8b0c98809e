"""The shapes of the lines of rollout files, with the fields that are used; others are skipped."""

from nightrook.adapter.shapes import Count, Shape


class Tokens(Shape):
    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0
    reasoning_output_tokens: Count = 0
    total_tokens: Count = 0


class Info(Shape):
    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None
    model: str | None = None


class Window(Shape):
    used_percent: float | None = None
    window_minutes: float | None = None
    resets_at: float | str | None = None
    resets_in_seconds: float | None = None


class RateLimits(Shape):
    limit_id: str | None = None
    limit_name: str | None = None
    primary: Window | None = None
    secondary: Window | None = None
    plan_type: str | None = None


class Spawn(Shape):
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None


class Subagent(Shape):
    thread_spawn: Spawn | None = None
    other: str | None = None


class Source(Shape):
    subagent: str | Subagent | None = None


class Git(Shape):
    branch: str | None = None


class Content(Shape):
    text: str | None = None


class Item(Shape):
    type: str | None = None
    content: list[Content] | None = None


class Payload(Shape):
    """What a line of any type contains."""

    type: str | None = None
    # session_meta
    id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    source: str | Source | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    git: Git | None = None
    # turn_context
    model: str | None = None
    # token_usage_record
    thread_id: str | None = None
    response_id: str | None = None
    usage: Tokens | None = None
    thread_token_usage: Tokens | None = None
    # event_msg
    info: Info | None = None
    rate_limits: RateLimits | None = None
    message: str | None = None
    item: Item | None = None


class Line(Shape):
    type: str | None = None
    timestamp: str | float | None = None
    payload: Payload | None = None
