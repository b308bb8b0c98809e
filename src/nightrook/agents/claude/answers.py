"""Whether a turn that Claude Code reports as a success has a whole answer, and if not, why."""

import re
from collections.abc import Mapping

import msgspec

from nightrook.adapter.shapes import NOTHING
from nightrook.agents.claude import shapes
from nightrook.agents.claude.memory import ApiMessage, Memory, tokens_of
from nightrook.agents.claude.usage import usage_of
from nightrook.model.text import one_line

_NO_CONTENT = "(no content)"  # what 1.0 and 2.0 write for an empty answer (s43c_empty_text)
_LONGEST_WORDS = 300

# 2.1.325 sends an unknown command to the model (s42_unknown_command).
_UNKNOWN_COMMAND = re.compile(r"Unknown command: /")
_BLOCKED = re.compile(r"UserPromptSubmit operation blocked by hook:|Operation stopped by hook: ")


class Ending(msgspec.Struct, frozen=True):
    """What is known about an answer besides the result's own status."""

    whole: bool = True
    reason: str | None = None
    words: str | None = None


_WHOLE = Ending()
_LOCAL_COMMAND = Ending(True, "local_command")
_HOOK_STOPPED = Ending(False, "hook_stopped", "a hook stopped the run")
_NO_STRUCTURE = Ending(
    False, "no_structured_output", "the answer does not have the structure that was asked for"
)
_CUT = Ending(False, "cut", "the answer was cut off in the middle")
_STOPS: Mapping[str, Ending] = {
    "pause_turn": Ending(False, "paused", "the model paused in the middle of its answer"),
    "max_tokens": Ending(False, "max_tokens", "the answer reached the limit of output tokens"),
    "model_context_window_exceeded": Ending(
        False, "context_window", "the answer reached the end of the context window"
    ),
    "refusal": Ending(False, "refused", "the model refused to answer"),
}
"""The ending for each stop reason of an answer that is not whole."""


def is_ok(message: shapes.Result) -> bool:
    """Whether the result reports a success: an API failure has the subtype `success`, too."""
    failed = message.is_error is not None and message.is_error is not False
    return not failed and message.subtype in (None, "success")


def answer_of(message: shapes.Result) -> str | None:
    """The text of the answer; empty if Claude Code wrote that there is none."""
    return "" if message.result == _NO_CONTENT else message.result


def judge_answer(memory: Memory, message: shapes.Result) -> Ending:
    """Judge the answer of a turn by everything that its messages report."""
    if not is_ok(message):
        return _WHOLE
    if message.terminal_reason == "hook_stopped":
        return _HOOK_STOPPED
    if memory.signs.last_message is None:
        return _without_model(memory, message)
    if memory.wants_structure and message.structured_output is NOTHING:
        return _NO_STRUCTURE
    return _by_stop_reason(memory.signs.last_message, memory, message)


def _without_model(memory: Memory, message: shapes.Result) -> Ending:
    """Judge a turn for which the model was not asked: a blocked prompt or a local command."""
    signs, text = memory.signs, message.result or ""
    if signs.blocked is not None or _BLOCKED.match(text):
        return Ending(False, "blocked", one_line(text or signs.blocked or "", _LONGEST_WORDS))
    if _UNKNOWN_COMMAND.match(text):
        return Ending(False, "unknown_command", one_line(text, _LONGEST_WORDS))
    output = signs.command_output
    if output is None and message.local_command is None:
        return _WHOLE
    if signs.command_failed or (output or "").startswith("Error: "):
        return Ending(False, "command_failed", one_line(output or text, _LONGEST_WORDS))
    return _LOCAL_COMMAND


def _by_stop_reason(last: ApiMessage, memory: Memory, message: shapes.Result) -> Ending:
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
    """Whether a last message without stop reason was cut (before 2.1).

    The line of a message is often written before its stop reason arrives (s52_stop_reason_late).
    The result counts the tokens of whole messages alone (1.0.128 and 2.0.76 s47_cut_text,
    s47_cut_after_tool).
    """
    if message.usage is None:
        return memory.names_stops
    used = 0 if last.usage is None else tokens_of(last.usage)
    whole = tokens_of(usage_of(message.usage)) > memory.signs.ended_tokens
    return not whole and (memory.names_stops or used > 0)
