"""The table of Droid's message types, and the decoder built on it."""

from collections.abc import Sequence

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.adapter.reader import Table, decoder_of
from nightrook.adapter.tools import first_of
from nightrook.agents.droid import errors, shapes, tools
from nightrook.agents.droid.memory import Memory
from nightrook.model.events import (
    Event,
    Notice,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    Unknown,
    UsageReported,
    UserMessage,
)

_NO_USAGE = shapes.Usage()
_NOT_PERMITTED = "it stopped at a tool call that was not permitted"
_CUT = "the answer may be cut off: no tokens were counted for it, as after a broken stream"


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read the start of a process."""
    if message.subtype != "init":
        return (Unknown(name=f"system/{message.subtype}", raw=salvage.raw_copy(line)),)
    return memory.enter(
        SessionStarted(
            session=message.session_id,
            model=message.model,
            cwd=message.cwd,
            tools=None if message.tools is None else tuple(message.tools),
        )
    )


def message(memory: Memory, message: shapes.Message, line: bytes) -> Events:
    """Read a text of the model, which is whole, or the prompt."""
    if message.role == "user":
        return [*memory.begin_turn(), UserMessage(text=message.text or "")]
    if message.role != "assistant":
        return (Unknown(name=f"message/{message.role}", raw=salvage.raw_copy(line)),)
    before = [] if memory.in_turn else memory.begin_turn()
    if tools.ends_early(message.text):  # Droid's own words (0.215.0 exec_denied)
        return [*before, Notice(level="warning", text=message.text or "")]
    memory.step(message.id)
    if not message.text:
        return before
    text = Text(id=message.id or memory.new_id("text"), text=message.text)
    return [*before, text] if before else text


def reasoning(memory: Memory, message: shapes.Reasoning, line: bytes) -> Events:
    """Read a thought, which some providers have written twice (0.215.0 thinking)."""
    before = [] if memory.in_turn else memory.begin_turn()
    memory.step(message.id)
    if memory.thought == (message.id, message.text):
        return before
    memory.thought = (message.id, message.text)
    # The text that follows has the same id.
    id = f"{message.id}-thought" if message.id else memory.new_id("thought")
    hidden = None if message.text else True
    thought = Thinking(id=id, text=message.text or None, redacted=hidden)
    return [*before, thought] if before else thought


def tool_call(memory: Memory, message: shapes.ToolCall, line: bytes) -> Events:
    """Read the start of a call."""
    before = [] if memory.in_turn else memory.begin_turn()
    memory.step(message.messageId)
    id, input = message.id or memory.new_id("call"), message.parameters
    if id in memory.tools or id in memory.ended:
        return before
    name = message.toolName or "tool"
    subagent = first_of(input, "subagent_type") if name == tools.SUBAGENT else None
    memory.tools[id] = started = tools.TOOLS.started(id, name, input, subagent=subagent)
    return [*before, started] if before else started


def tool_result(memory: Memory, message: shapes.ToolResult, line: bytes) -> Events:
    """Read the end of a call."""
    id = message.id or memory.new_id("call")
    call, value = memory.tools.get(id), message.value
    failed = message.isError or message.error is not None
    if call is None or not value or failed or not memory.in_turn:
        return _tool_result(memory, id, call, message)
    kind = call.kind  # most are of these two
    if kind == "execute" and (text := tools.plain_output_of(value)) is not None:
        memory.end(id)
        return ToolFinished(
            id=id, status="ok", name=call.name, kind=kind, output=text or None, exit_code=0
        )
    if kind == "edit" and (changed := tools.changed_file(call, value)) is not None:
        memory.end(id)
        return (ToolFinished(id=id, status="ok", name=call.name, kind=kind), changed)
    return _tool_result(memory, id, call, message)


def _tool_result(
    memory: Memory, id: str, call: ToolStarted | None, message: shapes.ToolResult
) -> Sequence[Event]:
    """Read the end of a call that may have failed, or changed something."""
    before = [] if memory.in_turn else memory.begin_turn()
    failed = message.isError is True or message.error is not None
    text = (message.error.message if message.error is not None else message.value) or ""
    text = text.removeprefix("Error: ") if failed else text
    output, code = tools.output_of(text) if call and call.kind == "execute" else (text, None)
    status = tools.status_of(call, text, code, failed=failed)
    if status == "ok" and call is not None:
        if call.kind == "execute":
            events = memory.finish(id, "ok", output=output or None, exit_code=code)
            return [*before, *events] if before else events  # as most are
        changed = [*tools.changes(call, text)]
        # The result of an edit is JSON with nothing that its change doesn't report.
        shown = None if changed and call.kind == "edit" else text
        events = memory.finish(id, "ok", output=shown or None)
        return [*before, *events, *changed, *_subagent(call.kind, id)]
    fix = tools.fix_of(call, text) if status == "denied" else None
    error = None if status == "ok" else output or text or None
    shown = (output or None) if status == "ok" or code is not None else None
    events = memory.finish(id, status, output=shown, error=error, exit_code=code, fix=fix)
    return [*before, *events]


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read an error; the command line's own ends the run, often after one of the agent."""
    before = [] if memory.in_turn else memory.begin_turn()
    if message.source != "cli":
        memory.failure = errors.read(message.message)
        return [*before, memory.failure]
    if tools.ends_early(message.message):
        ending = memory.finish_turn("denied", _NOT_PERMITTED, turns=memory.steps or None)
        return [*before, *memory.abandon(), ending]
    events: list[Event] = [*before, *memory.abandon()]
    failure = memory.failure
    if failure is None:
        failure = errors.read(message.message)
        events.append(failure)
    return [*events, memory.finish_turn("api_error", failure.message, turns=memory.steps or None)]


def completion(memory: Memory, message: shapes.Completion, line: bytes) -> Sequence[Event]:
    """Read the end of a turn, with the tokens of the process."""
    return _finish(memory, message.finalText, message.durationMs, message.usage)


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the whole of a run that was asked for one message."""
    events = [*memory.enter(SessionStarted(session=message.session_id)), *memory.begin_turn()]
    if message.is_error is False and message.subtype != "failure":
        return [*events, *_finish(memory, message.result, message.duration_ms, message.usage)]
    failure = errors.read(message.result)
    return [*events, failure, memory.finish_turn("api_error", failure.message)]


def _finish(
    memory: Memory, text: str | None, milliseconds: float | None, usage: shapes.Usage | None
) -> Sequence[Event]:
    """End a turn.

    When the model's stream breaks off, Droid reports half an answer as a whole one. All that shows
    it are the tokens: that request has none (0.215.0 mid_stream_cut).
    """
    events = [*memory.begin_turn(), *memory.abandon()]
    used = _usage(usage or _NO_USAGE)
    if used is not None:
        events.append(used)
    reason = None
    if memory.failure is not None:  # no message of the model followed it
        reason, text = "api_error", memory.failure.message
    elif used is None and text:
        reason, text = "cut", _CUT
    ending = memory.finish_turn(
        reason,
        text,
        duration_s=None if milliseconds is None else milliseconds / 1000,
        turns=memory.steps or None,
    )
    return [*events, ending]


def _usage(used: shapes.Usage) -> UsageReported | None:
    """The tokens of a turn; None if they were not counted, which is written as zeros."""
    if not used.input_tokens and not used.output_tokens:
        return None
    return UsageReported(
        scope="turn",
        semantics="final",
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens,
        cache_write_5m=used.cache_creation_input_tokens,
        reasoning=used.thinking_tokens,
    )


def _subagent(kind: str, id: str) -> Sequence[Event]:
    """The usage of a subagent: it has a session of its own, which no message reports."""
    if kind != "subagent":
        return ()
    return (UsageReported(message_id=id, scope="session", semantics="final", parent=id),)


_TABLE: Table[Memory] = {
    shapes.System: system,
    shapes.Message: message,
    shapes.Reasoning: reasoning,
    shapes.ToolCall: tool_call,
    shapes.ToolResult: tool_result,
    shapes.Error: error,
    shapes.Completion: completion,
    shapes.Result: result,
}

decoder = decoder_of("droid", _TABLE, Memory)
"""Returns a decoder for one stream of Droid."""
