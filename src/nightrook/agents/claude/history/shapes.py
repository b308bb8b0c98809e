"""The shapes of Claude Code's stored lines, with the fields that are used; others are skipped."""

from nightrook.adapter.shapes import Count, Shape
from nightrook.agents.claude.usage_shapes import CacheCreation, OutputDetails, ServerToolUse

# Fields are in the order in which they are written, so that each is found at once.


class Usage(Shape):
    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None
    output_tokens: Count | None = None
    server_tool_use: ServerToolUse | None = None
    speed: str | None = None
    output_tokens_details: OutputDetails | None = None


class Message(Shape):
    model: str | None = None
    id: str | None = None
    role: str | None = None
    usage: Usage | None = None


class Quota(Shape):
    status: str | None = None
    rateLimitType: str | None = None
    resetsAt: float | None = None


class Origin(Shape):
    sessionId: str | None = None


class Line(Shape):
    """A line of any type."""

    isSidechain: bool | None = None
    message: Message | None = None
    requestId: str | None = None
    type: str | None = None
    uuid: str | None = None
    timestamp: str | float | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    agentId: str | None = None
    attributionAgent: str | None = None
    forkedFrom: str | Origin | None = None
    costUSD: float | None = None
    quotaLimits: Quota | None = None
    summary: str | None = None
    leafUuid: str | None = None
    aiTitle: str | None = None
    customTitle: str | None = None
    lastPrompt: str | None = None
