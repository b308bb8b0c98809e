"""Reads how a turn ended: the result message."""

from collections.abc import Mapping, Sequence

from rookery.agents.claude import shapes, tools
from rookery.agents.claude.memory import Memory
from rookery.agents.claude.shapes import own
from rookery.agents.claude.usage import by_model, of_turn
from rookery.core.events import Denial, Event, PermissionDenied, TurnFinished

_REASONS: Mapping[str, str] = {
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "max_budget",
    "error_max_structured_output_retries": "max_retries",
    "budget_exhausted": "max_budget",
    "structured_output_retry_exhausted": "max_retries",
    "aborted_streaming": "interrupted",
    "aborted_tools": "interrupted",
    "error_during_execution": "error",
}
"""Neutral words for a subtype or terminal reason; what is not here is kept as it is."""


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; costs and model usage are totals of the process so far."""
    events: list[Event] = []
    if not memory.open_turns:
        events.append(memory.begin_turn())
    memory.open_turns -= 1
    memory.results += 1
    denials = tuple(_denial(denial) for denial in message.permission_denials or ())
    for denial in denials:
        if memory.deny(denial.tool_id):
            events.append(
                PermissionDenied(
                    tool_id=denial.tool_id, name=denial.name, input=denial.input, fix=denial.fix
                )
            )
    cost = message.cost_usd if message.total_cost_usd is None else message.total_cost_usd
    events.append(
        TurnFinished(
            ok=is_ok(message),
            text=message.result,
            stop_reason=message.stop_reason,
            reason=_reason(message),
            errors=_errors(message),
            denials=denials or None,
            duration_s=_seconds(message.duration_ms),
            api_duration_s=_seconds(message.duration_api_ms),
            turns=message.num_turns,
            cost_usd=cost,
            cost_semantics=None if cost is None else "cumulative",
            usage=of_turn(message.usage),
            models=by_model(message.modelUsage),
            structured=own(message.structured_output),
        )
    )
    return events


def is_ok(message: shapes.Result) -> bool:
    """Good only if nothing contradicts it: an API failure has the subtype `success` too."""
    good = message.is_error is None or message.is_error is False
    return good and message.subtype in (None, "success")


def _reason(message: shapes.Result) -> str | None:
    for word in (message.subtype, message.terminal_reason):
        if word and word in _REASONS and word != "error_during_execution":
            return _REASONS[word]
    return message.terminal_reason or _REASONS.get(message.subtype or "")


def _errors(message: shapes.Result) -> tuple[str, ...] | None:
    if message.errors:
        return tuple(message.errors)
    return (message.result,) if message.result and not is_ok(message) else None


def _denial(denial: shapes.PermissionDenial) -> Denial:
    raw = denial.tool_input
    return Denial(
        tool_id=denial.tool_use_id,
        name=denial.tool_name,
        input=own(raw),
        fix=tools.allow_rule(denial.tool_name, raw) if denial.tool_name else None,
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
