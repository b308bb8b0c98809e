"""Token counts: an agent's `usage_of` makes a `Usage` of its counters, and events report that."""

from typing import Literal

from nightrook.model.events import Usage, UsageReported


def uncached(input: int | None, read: int | None, written: int | None = None) -> int | None:
    """The uncached input, for agents whose input count includes cached tokens."""
    if input is None:
        return None
    if read:
        input -= read
    if written:
        input -= written
    return input if input > 0 else 0


def reported(
    usage: Usage,
    *,
    message_id: str | None = None,
    model: str | None = None,
    stop_reason: str | None = None,
    scope: Literal["message", "turn", "session"] = "message",
    semantics: Literal["snapshot", "final", "cumulative"] = "final",
    cost_usd: float | None = None,
    parent: str | None = None,
) -> UsageReported:
    """Return the event that reports a usage: that of one request, unless `scope` says otherwise."""
    return UsageReported(
        message_id=message_id,
        model=model,
        stop_reason=stop_reason,
        scope=scope,
        semantics=semantics,
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write_5m=usage.cache_write_5m,
        cache_write_1h=usage.cache_write_1h,
        reasoning=usage.reasoning,
        web_searches=usage.web_searches,
        cost_usd=cost_usd,
        parent=parent,
    )
