"""The shapes of Claude Code's stored lines, with the fields that are used; others are skipped."""

from rookery.adapter.shapes import Shape
from rookery.agents.claude import shapes


class Usage(shapes.Usage):
    speed: str | None = None


class Message(Shape):
    id: str | None = None
    model: str | None = None
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

    type: str | None = None
    message: Message | None = None
    requestId: str | None = None
    uuid: str | None = None
    timestamp: str | float | None = None
    sessionId: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    version: str | None = None
    isSidechain: bool | None = None
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
