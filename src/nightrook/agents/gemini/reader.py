"""The table of Gemini CLI's message types, and the decoder built on it."""

import re
from collections.abc import Sequence

from nightrook.adapter import salvage
from nightrook.adapter.agent import PERMIT_ALL
from nightrook.adapter.decoder import Events
from nightrook.adapter.reader import Table, decoder_of
from nightrook.adapter.usage import uncached
from nightrook.agents.gemini import errors, shapes, tools
from nightrook.agents.gemini.memory import Memory
from nightrook.model.events import (
    Error,
    Event,
    Notice,
    SessionStarted,
    Status,
    Text,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Unknown,
    UsageReported,
    UserMessage,
)

_NO_ERROR = shapes.ErrorDetail()
_MISSING = "tool_not_registered"  # the model called a tool that is not offered to it
_REFUSED = "policy_violation"  # a rule or a hook refused exactly this call (0.61.0 policy_rule)
# The tool is permitted, but this call of it isn't (0.61.0 redirection).
_UNCONFIRMED = re.compile(
    r'Tool execution for "[^"\n]+" requires user confirmation, which is not supported in '
    r"non-interactive mode\."
)
_REDIRECTS = re.compile(r"[<>]")


def init(memory: Memory, message: shapes.Init, line: bytes) -> Sequence[Event]:
    """Read the start of a process; everything that an earlier one left open is orphaned."""
    events = memory.abandon()
    memory.in_turn = False
    if message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        events.append(SessionStarted(session=message.session_id, model=message.model))
    return events


def message(memory: Memory, message: shapes.Message, line: bytes) -> Events:
    """Read a piece of the model's text, which has neither id nor end, or the user's prompt."""
    text = message.content
    if message.role == "assistant":
        if not text:
            return ()
        if message.delta and memory.partial_id is not None:
            memory.pieces.append(text)
            return TextDelta(id=memory.partial_id, text=text)
        return _begin_text(memory, text, whole=not message.delta)
    if message.role != "user":
        return (Unknown(name=f"message/{message.role}", raw=salvage.raw_copy(line)),)
    return [*memory.end_text(), *memory.begin_turn(), UserMessage(text=text or "")]


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read the start of a call."""
    before = memory.advance()
    memory.answer = None
    id = message.tool_id or memory.new_id("call")
    if memory.has_started(id):
        return before
    name, input = message.tool_name or "tool", message.parameters
    subagent = tools.subagent(input) if name == tools.SUBAGENT else None
    memory.tools[id] = started = tools.TOOLS.started(id, name, input, subagent=subagent)
    return [*before, started] if before else started


def tool_result(memory: Memory, message: shapes.ToolResult, line: bytes) -> Events:
    """Read the end of a call; a failed command is reported as a success (0.61.0 shell_fail)."""
    id = message.tool_id or memory.new_id("call")
    call = memory.tools.get(id)
    output = message.output or None  # "" means that the output is not reported (0.61.0 file_edit)
    ok, before = message.status == "success", memory.advance()
    if ok and call is not None and not before and call.kind not in tools.CHANGING:
        memory.end(id)  # as most do: finish() would look everything up again
        return ToolFinished(id=id, status="ok", name=call.name, kind=call.kind, output=output)
    if ok:
        events = memory.finish(id, "ok", output=output)
        if call is not None and call.kind in tools.CHANGING:
            events += tools.changes(call.name, id, call.input)
        return before + events if before else events
    error = message.error or _NO_ERROR
    denied = call is not None and _is_denied(call.name, error)
    fix = _fix(call, error) if denied and call is not None else None
    status: Status = "denied" if denied else "error"
    text = error.message or output
    return before + memory.finish(id, status, output=output, error=text, fix=fix)


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read an error or warning; only the result ends the turn."""
    memory.failure = message.message
    if message.message in errors.STOPS:
        memory.stopped = message.message
    if message.severity == "warning":
        return (Notice(level="warning", text=message.message or ""),)
    return (Error(kind="internal", message=message.message),)


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of the only turn of a process, with the tokens of the whole process."""
    events = [*memory.begin_turn(), *memory.abandon()]
    stats = message.stats or shapes.Stats()
    for model, used in (stats.models or {}).items():
        if (usage := _usage(model, used)) is not None:
            events.append(usage)
    # The duration of a failed turn is reported as 0 (0.61.0 max_turns).
    duration_s = stats.duration_ms / 1000 if stats.duration_ms else None
    if message.status == "success" and memory.stopped is None:
        return [*events, memory.finish_turn(None, memory.answer, duration_s=duration_s)]
    reason, text = _failure(message.error, memory)
    if message.error is not None and reason == "api_error":
        failure = errors.read(message.error)
        events.append(failure)
        text = failure.message
    return [*events, memory.finish_turn(reason, text, duration_s=duration_s)]


def _failure(error: shapes.ErrorDetail | None, memory: Memory) -> tuple[str, str | None]:
    """The reason why a turn failed, and a message.

    A result without an error follows an error message: the model's answer was empty or invalid, or
    Gemini CLI stopped the model, which it reports as a success.
    """
    if error is not None:
        return errors.REASONS.get(error.type, "api_error"), error.message
    if memory.stopped is not None:
        return errors.STOPS[memory.stopped], memory.stopped
    return "error", memory.failure


_TABLE: Table[Memory] = {
    shapes.Init: init,
    shapes.Message: message,
    shapes.ToolUse: tool_use,
    shapes.ToolResult: tool_result,
    shapes.Error: error,
    shapes.Result: result,
}

decoder = decoder_of("gemini", _TABLE, Memory)
"""Returns a decoder for one stream of Gemini CLI."""


def _begin_text(memory: Memory, text: str, *, whole: bool) -> Sequence[Event]:
    events = memory.advance()
    id = memory.new_id("text")
    if not whole:
        return [*events, *memory.add_delta(id, text)]
    memory.answer = text
    return [*events, Text(id=id, text=text)]


def _is_denied(name: str, error: shapes.ErrorDetail) -> bool:
    """Whether a call failed because its tool is not permitted.

    When it cannot ask, Gemini CLI hides the tools that need approval and those that a policy
    denies (0.61.0 perm_denied, perm_policy_deny). So a missing built-in tool was denied; any other
    missing tool is an invention of the model.
    """
    if error.type == _MISSING:
        return name in tools.TOOLS.kinds
    return error.type == _REFUSED or _UNCONFIRMED.fullmatch(error.message or "") is not None


def _fix(call: ToolStarted, error: shapes.ErrorDetail) -> str | None:
    """What would allow a denied call, unless a policy forbids it, which is not reported.

    That is a rule, except for a command that writes to a file or reads from one: it needs approval
    even if a rule allows commands (0.61.0 redirection).
    """
    if error.type == _REFUSED:
        return None
    if error.type != _MISSING or (call.kind == "execute" and _REDIRECTS.search(call.title or "")):
        return PERMIT_ALL
    return call.name


def _usage(model: str, used: shapes.ModelStats) -> UsageReported | None:
    """The tokens of a model; None if they were not counted, which is written as zeros.

    Thinking is counted only in the total (0.61.0 thinking): the rest of the total is reasoning.
    """
    if not used.total_tokens and not used.input_tokens and not used.output_tokens:
        return None
    input, output, cached = used.input_tokens, used.output_tokens, used.cached
    reasoning = None
    if used.total_tokens is not None and input is not None and output is not None:
        reasoning = max(0, used.total_tokens - input - output)
        output += reasoning
    return UsageReported(
        model=model,
        scope="turn",
        semantics="final",
        input=uncached(input, cached),
        output=output,
        cache_read=cached,
        reasoning=reasoning,
    )
