"""Reads result messages, which end a turn."""

from collections.abc import Mapping, Sequence

from nightrook.adapter.oversized import Shortened
from nightrook.adapter.salvage import raw_copy
from nightrook.agents.claude import shapes
from nightrook.agents.claude.answers import answer_of, is_ok, judge_answer
from nightrook.agents.claude.errors import error_in_words
from nightrook.agents.claude.memory import Memory, TurnSigns
from nightrook.agents.claude.messages import allow_rule
from nightrook.agents.claude.usage import by_model, is_guessed, models_of, usage_of
from nightrook.model.events import Denial, Event, PermissionDenied, TurnFinished
from nightrook.model.price import credible

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
"""The neutral reason for a subtype or terminal reason; others are kept as they are."""


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; cost and usage by model are totals of the process so far."""
    events: list[Event] = []
    if not memory.open_turns:
        events += memory.begin_turn()
    if memory.open_turns == 1:
        events += memory.unfinished()
        events += memory.drop_calls("orphaned", parent=None)
    if not is_ok(message) and not memory.error_reported:
        events += error_in_words(message.result)
    memory.error_reported = False
    ending = judge_answer(memory, message)
    memory.signs = TurnSigns()
    memory.open_turns -= 1
    memory.results += 1
    denials = tuple(_denial(memory, denial) for denial in message.permission_denials or ())
    for denial in denials:
        if denial.tool_id not in memory.fixes:
            events.append(_late_denial(memory, denial))
    models = models_of(message.modelUsage)
    if models or (message.usage is not None and message.usage.output_tokens):
        memory.uncounted.clear()
    cost = message.cost_usd if message.total_cost_usd is None else message.total_cost_usd
    cost = None if is_guessed(models) else credible(cost)
    events.append(
        TurnFinished(
            ok=is_ok(message) and ending.whole,
            text=answer_of(message),
            stop_reason=message.stop_reason or None,
            reason=ending.reason or _reason(message),
            errors=(ending.words,) if ending.words else _errors(message),
            denials=denials or None,
            duration_s=_seconds(message.duration_ms),
            api_duration_s=_seconds(message.duration_api_ms),
            turns=message.num_turns,
            cost_usd=cost,
            cost_semantics=None if cost is None else "cumulative",
            usage=None if message.usage is None else usage_of(message.usage),
            models=by_model(models),
            spent=by_model(models_of(message.model_usage_since_last_result)),
            structured=None if isinstance(line, Shortened) else raw_copy(message.structured_output),
        )
    )
    return events


def _reason(message: shapes.Result) -> str | None:
    for reason in (message.subtype, message.terminal_reason):
        if reason and reason in _REASONS and reason != "error_during_execution":
            return _REASONS[reason]
    if message.terminal_reason == "completed" and not is_ok(message):
        return "api_error"  # what 2.1.325 writes here; 2.1.197 writes completed (s11a_fail_500)
    return message.terminal_reason or _REASONS.get(message.subtype or "")


def _errors(message: shapes.Result) -> tuple[str, ...] | None:
    if message.errors:
        return tuple(message.errors)
    return (message.result,) if message.result and not is_ok(message) else None


def _denial(memory: Memory, denial: shapes.PermissionDenial) -> Denial:
    id, name, input = denial.tool_use_id, denial.tool_name, denial.tool_input
    if id in memory.fixes:
        fix = memory.fixes[id]
    else:
        refusal = memory.error_of(id)
        fix = allow_rule(memory, name, input, refusal=refusal) if name else None
    return Denial(tool_id=id, name=name, input=raw_copy(input), fix=fix)


def _late_denial(memory: Memory, denial: Denial) -> PermissionDenied:
    """A denial that only the result reports: before, its call was reported as failed."""
    if denial.tool_id is not None:
        memory.deny(denial.tool_id, denial.fix)
    return PermissionDenied(
        tool_id=denial.tool_id,
        name=denial.name,
        input=denial.input,
        reason=memory.error_of(denial.tool_id),
        fix=denial.fix,
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
