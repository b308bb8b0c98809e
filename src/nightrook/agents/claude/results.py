"""Reads result messages, which end a turn, and judges whether a success has a whole answer."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from nightrook.adapter.oversized import Shortened
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.claude import shapes
from nightrook.agents.claude.errors import error_in_words
from nightrook.agents.claude.memory import ApiMessage, Memory, TurnSigns, tokens_of
from nightrook.agents.claude.messages import allow_rule
from nightrook.agents.claude.usage import by_model, is_guessed, models_of, usage_of
from nightrook.model.events import Denial, Event, PermissionDenied, TurnFinished
from nightrook.model.price import credible
from nightrook.model.text import one_line

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
    if not _is_ok(message) and not memory.error_reported:
        events += error_in_words(message.result)
    memory.error_reported = False
    ending = _judge_answer(memory, message)
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
            ok=_is_ok(message) and ending.whole,
            text=_answer_of(message),
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
    if message.terminal_reason == "completed" and not _is_ok(message):
        return "api_error"  # what 2.1.325 writes here; 2.1.197 writes completed (s11a_fail_500)
    return message.terminal_reason or _REASONS.get(message.subtype or "")


def _errors(message: shapes.Result) -> tuple[str, ...] | None:
    if message.errors:
        return tuple(message.errors)
    return (message.result,) if message.result and not _is_ok(message) else None


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


# The answer of a turn

_NO_CONTENT = "(no content)"  # what 1.0 and 2.0 write for an empty answer (s43c_empty_text)
_LONGEST_WORDS = 300

# 2.1.325 sends an unknown command to the model (s42_unknown_command).
_UNKNOWN_COMMAND = re.compile(r"Unknown command: /")
_BLOCKED = re.compile(r"UserPromptSubmit operation blocked by hook:|Operation stopped by hook: ")


class _Ending(msgspec.Struct, frozen=True):
    """Facts about an answer besides the result's own status."""

    whole: bool = True
    reason: str | None = None
    words: str | None = None


_WHOLE = _Ending()
_LOCAL_COMMAND = _Ending(True, "local_command")
_HOOK_STOPPED = _Ending(False, "hook_stopped", "a hook stopped the run")
_NO_STRUCTURE = _Ending(
    False, "no_structured_output", "the answer does not have the structure that was asked for"
)
_CUT = _Ending(False, "cut", "the answer was cut off in the middle")
_STOPS: Mapping[str, _Ending] = {
    "pause_turn": _Ending(False, "paused", "the model paused in the middle of its answer"),
    "max_tokens": _Ending(False, "max_tokens", "the answer reached the limit of output tokens"),
    "model_context_window_exceeded": _Ending(
        False, "context_window", "the answer reached the end of the context window"
    ),
    "refusal": _Ending(False, "refused", "the model refused to answer"),
}
"""The ending for each stop reason of an answer that is not whole."""


def _is_ok(message: shapes.Result) -> bool:
    """True if the result reports a success: an API failure has the subtype `success`, too."""
    failed = message.is_error is not None and message.is_error is not False
    return not failed and message.subtype in (None, "success")


def _answer_of(message: shapes.Result) -> str | None:
    """The text of the answer; empty if Claude Code wrote that there is none."""
    return "" if message.result == _NO_CONTENT else message.result


def _judge_answer(memory: Memory, message: shapes.Result) -> _Ending:
    """Judge the answer of a turn by everything that its messages report."""
    if not _is_ok(message):
        return _WHOLE
    if message.terminal_reason == "hook_stopped":
        return _HOOK_STOPPED
    if memory.signs.last_message is None:
        return _without_model(memory, message)
    if memory.wants_structure and message.structured_output is NOTHING:
        return _NO_STRUCTURE
    return _by_stop_reason(memory.signs.last_message, memory, message)


def _without_model(memory: Memory, message: shapes.Result) -> _Ending:
    """Judge a turn for which the model was not asked: a blocked prompt or a local command."""
    signs, text = memory.signs, message.result or ""
    if signs.blocked is not None or _BLOCKED.match(text):
        return _Ending(False, "blocked", one_line(text or signs.blocked or "", _LONGEST_WORDS))
    if _UNKNOWN_COMMAND.match(text):
        return _Ending(False, "unknown_command", one_line(text, _LONGEST_WORDS))
    output = signs.command_output
    if output is None and message.local_command is None:
        return _WHOLE
    if signs.command_failed or (output or "").startswith("Error: "):
        return _Ending(False, "command_failed", one_line(output or text, _LONGEST_WORDS))
    return _LOCAL_COMMAND


def _by_stop_reason(last: ApiMessage, memory: Memory, message: shapes.Result) -> _Ending:
    """Judge an answer by the reasons for which the model's messages stopped."""
    reason = message.stop_reason
    if reason is msgspec.UNSET:  # before 2.1
        if last.stop_reason is not None:
            return _STOPS.get(last.stop_reason, _WHOLE)
        return _CUT if _is_uncounted(last, memory, message) else _WHOLE
    if reason is None:
        return _CUT  # 2.1.197 s47_cut_text
    if reason == "tool_use" and message.structured_output is NOTHING:
        return _CUT  # the reason of the message before (2.1.197 s47_cut_after_tool)
    return _STOPS.get(reason, _WHOLE)


def _is_uncounted(last: ApiMessage, memory: Memory, message: shapes.Result) -> bool:
    """True if a last message without stop reason was cut (before 2.1).

    The line of a message is often written before its stop reason arrives (s52_stop_reason_late).
    The result counts the tokens of whole messages alone (1.0.128 and 2.0.76 s47_cut_text,
    s47_cut_after_tool).
    """
    if message.usage is None:
        return memory.names_stops
    used = 0 if last.usage is None else tokens_of(last.usage)
    whole = tokens_of(usage_of(message.usage)) > memory.signs.ended_tokens
    return not whole and (memory.names_stops or used > 0)
