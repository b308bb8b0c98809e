"""The table of Gemini CLI's message types, and the decoder built on it."""

import re
from collections.abc import Sequence

from rookery.adapter import salvage
from rookery.adapter.agent import PERMIT_ALL
from rookery.adapter.decoder import Events
from rookery.adapter.reader import Table, decoder_of
from rookery.adapter.tokens import uncached
from rookery.agents.gemini import errors, shapes, tools
from rookery.agents.gemini.memory import Memory
from rookery.model.events import (
    Error,
    Event,
    Notice,
    SessionStarted,
    Status,
    Text,
    TextDelta,
    ToolStarted,
    Unknown,
    UsageReported,
    UserMessage,
)

_NO_COMPLAINT = shapes.Complaint()
_MISSING = "tool_not_registered"  # the model called a tool that it was not given
_REFUSED = "policy_violation"  # a rule or a hook said no to this very call (0.61.0 policy_rule)
# A tool that is permitted, but not this call of it (0.61.0 redirection).
_UNCONFIRMED = re.compile(
    r'Tool execution for "[^"\n]+" requires user confirmation, which is not supported in '
    r"non-interactive mode\."
)
_REDIRECTS = re.compile(r"[<>]")


def init(memory: Memory, message: shapes.Init, line: bytes) -> Sequence[Event]:
    """Read the beginning of a process; what an earlier one left open stays so."""
    events = memory.abandon()
    memory.in_turn = False
    if message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        events.append(SessionStarted(session=message.session_id, model=message.model))
    return events


def message(memory: Memory, message: shapes.Message, line: bytes) -> Events:
    """Read a piece of what the model says, which has no id and no end, or the user's prompt."""
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


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Sequence[Event]:
    """Read the beginning of a call."""
    events = memory.advance()
    memory.answer = None
    id = message.tool_id or memory.new_id("call")
    name, given = message.tool_name or "tool", message.parameters
    subagent = tools.subagent(name, given)
    events += memory.start(tools.TOOLS.started(id, name, given, subagent=subagent))
    return events


def tool_result(memory: Memory, message: shapes.ToolResult, line: bytes) -> Sequence[Event]:
    """Read the end of a call; a command that failed is a success here (0.61.0 shell_fail)."""
    events = memory.advance()
    id = message.tool_id or memory.new_id("call")
    call = memory.tools.get(id)
    told = message.error or _NO_COMPLAINT
    output = message.output or None  # "" is told of tools whose output is not (0.61.0 file_edit)
    complaint = told.message or output
    ok = message.status == "success"
    denied = not ok and call is not None and _is_denied(call.name, told)
    fix = _fix(call, told) if denied and call is not None else None
    status: Status = "ok" if ok else "denied" if denied else "error"
    events += memory.finish(id, status, output=output, error=None if ok else complaint, fix=fix)
    if ok and call is not None and call.kind in tools.TELLING:
        events += tools.consequences(call.name, id, call.input)
    return events


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read what the program tells of trouble; only the result is the end."""
    memory.trouble = message.message
    if message.message in errors.SURRENDERS:
        memory.gave_up = message.message
    if message.severity == "warning":
        return (Notice(level="warning", text=message.message or ""),)
    return (Error(kind="internal", message=message.message),)


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of the one turn of a process, with what all of it used."""
    events = [*memory.begin_turn(), *memory.abandon()]
    stats = message.stats or shapes.Stats()
    for model, used in (stats.models or {}).items():
        if (usage := _usage(model, used)) is not None:
            events.append(usage)
    # A failed turn is told to have taken no time (0.61.0 max_turns).
    duration_s = stats.duration_ms / 1000 if stats.duration_ms else None
    if message.status == "success" and memory.gave_up is None:
        return [*events, memory.finish_turn(None, memory.answer, duration_s=duration_s)]
    reason, words = _failure(message.error, memory)
    if message.error is not None and reason == "api_error":
        failure = errors.read(message.error)
        events.append(failure)
        words = failure.message
    return [*events, memory.finish_turn(reason, words, duration_s=duration_s)]


def _failure(told: shapes.Complaint | None, memory: Memory) -> tuple[str, str | None]:
    """Why a turn failed, in a word and in words.

    A result without an error follows an error message: that the model's answer was no answer, or
    that the program stopped the model, which it calls a success.
    """
    if told is not None:
        return errors.REASONS.get(told.type, "api_error"), told.message
    if memory.gave_up is not None:
        return errors.SURRENDERS[memory.gave_up], memory.gave_up
    return "error", memory.trouble


_READERS: Table[Memory] = {
    shapes.Init: init,
    shapes.Message: message,
    shapes.ToolUse: tool_use,
    shapes.ToolResult: tool_result,
    shapes.Error: error,
    shapes.Result: result,
}

decoder = decoder_of("gemini", _READERS, Memory)
"""Makes a decoder for one stream of Gemini CLI."""


def _begin_text(memory: Memory, text: str, *, whole: bool) -> Sequence[Event]:
    events = memory.advance()
    id = memory.new_id("text")
    if not whole:
        return [*events, *memory.add_delta(id, text)]
    memory.answer = text
    return [*events, Text(id=id, text=text)]


def _is_denied(name: str, told: shapes.Complaint) -> bool:
    """Whether a call failed because its tool is not permitted.

    Without somebody to ask, Gemini CLI hides the tools that would need permission, and those that
    a policy denies (0.61.0 perm_denied, perm_policy_deny). So a tool of its own that is missing
    was denied; any other missing tool is one that the model made up.
    """
    if told.type == _MISSING:
        return name in tools.TOOLS.kinds
    return told.type == _REFUSED or _UNCONFIRMED.fullmatch(told.message or "") is not None


def _fix(call: ToolStarted, told: shapes.Complaint) -> str | None:
    """What lets a denied call pass, unless a policy is against it, of which nobody tells.

    That is a rule, but for a command that writes to a file or reads from one: it has to be
    confirmed even if a rule allows commands (0.61.0 redirection).
    """
    if told.type == _REFUSED:
        return None
    if told.type != _MISSING or (call.kind == "execute" and _REDIRECTS.search(call.title or "")):
        return PERMIT_ALL
    return call.name


def _usage(model: str, used: shapes.ModelStats) -> UsageReported | None:
    """What the process used of a model; None if nobody counted: all are 0 then.

    Thoughts are in no figure but the total (0.61.0 thinking): the rest of it is taken for them.
    """
    if not used.total_tokens and not used.input_tokens and not used.output_tokens:
        return None
    asked, said, cached = used.input_tokens, used.output_tokens, used.cached
    reasoning = None
    if used.total_tokens is not None and asked is not None and said is not None:
        reasoning = max(0, used.total_tokens - asked - said)
        said += reasoning
    return UsageReported(
        model=model,
        scope="turn",
        semantics="final",
        input=uncached(asked, cached),
        output=said,
        cache_read=cached,
        reasoning=reasoning,
    )
