"""The table of the lines that Cline writes to its stream; it keeps no sessions that are read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.reader import Row, decoder_of, stream_of
from nightrook.adapter.usage import reported, uncached
from nightrook.agents.cline import shapes, tools
from nightrook.agents.cline.memory import Memory
from nightrook.model.events import (
    ContextCompacted,
    Error,
    ErrorKind,
    Event,
    Notice,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    Usage,
)
from nightrook.model.permissions import PERMIT_ALL
from nightrook.model.price import credible

_REPEATED = " tool call(s) failed: "  # an error that repeats those of calls (3.0.65 perm_denied)


def hook_event(memory: Memory, message: shapes.HookEvent, line: bytes) -> Events:
    """Read a step of an agent; the first begins the run, and one comes before each call."""
    if message.hookEventName == "tool_call":
        memory.main_calls = message.parentAgentId is None
    return () if memory.in_turn else _begin(memory)


def agent_event(memory: Memory, message: shapes.AgentEvent, line: bytes) -> Events:
    """Read an action of an agent."""
    event = message.event
    # Most messages are pieces of a text.
    if (
        type(event) is shapes.ContentStart
        and event.contentType == "text"
        and memory.partial_id is not None
        and memory.thought != memory.partial_id
        and event.text
    ):
        memory.pieces.append(event.text)
        parent = memory.parent if memory.callers else None
        return TextDelta(id=memory.partial_id, text=event.text, parent=parent)
    before = [] if memory.in_turn else _begin(memory)
    read = _EVENTS.get(type(event))
    events = () if read is None else read(memory, event)
    return [*before, *as_sequence(events)] if before else events


def run_result(memory: Memory, message: shapes.RunResult, line: bytes) -> Sequence[Event]:
    """Read the end of the run, which names the model."""
    events = [*_begin(memory), *memory.abandon(), *memory.settle(message.model.id)]
    ok = message.finishReason == "completed" and memory.failure is None
    failed = memory.failure.message if memory.failure else _SENTENCES.get(message.finishReason)
    reason = None if ok else _REASONS.get(message.finishReason, message.finishReason or "error")
    ending = memory.finish_turn(
        reason,
        message.text if ok else failed or message.text,
        duration_s=None if message.durationMs is None else message.durationMs / 1000,
        turns=message.iterations,
    )
    return [*events, ending]


def run_aborted(memory: Memory, message: shapes.RunAborted, line: bytes) -> Sequence[Event]:
    """Read the end of an aborted run, which may be reported after a whole result."""
    if not memory.in_turn:
        return (Notice(level="warning", text=message.message or "aborted"),)
    return [*memory.abandon(), memory.finish_turn("interrupted", message.message)]


_CLASSES: Mapping[str | None, ErrorKind] = {
    "auth": "auth",
    "context_window_exceeded": "context",
}
"""The classes of errors that Cline distinguishes."""

_REASONS: Mapping[str | None, str] = {
    "completed": "api_error",  # after an error from which it doesn't recover
    "error": "api_error",
    "aborted": "interrupted",
    "max_iterations": "max_turns",
}
# Both are from its source: no flag sets the first limit, and no recorded run made enough mistakes.
_SENTENCES: Mapping[str | None, str] = {
    "max_iterations": "it reached its limit of iterations",
    "mistake_limit": "it made too many mistakes in a row",
}


def _begin(memory: Memory) -> list[Event]:
    events: list[Event] = []
    if not memory.sessions:
        memory.sessions.add(None)
        events.append(SessionStarted())
    return [*events, *memory.begin_turn()]


def _content_start(memory: Memory, event: shapes.ContentStart) -> Events:
    """Read a piece of a text or thought, or the start of a call.

    A piece of a text completes the thought before it, whose own end comes later (3.0.65 thinking).
    """
    if memory.parent is None:
        memory.failure = None  # it continues after all
    if event.contentType == "tool":
        return _call(memory, event)
    thinking = event.contentType == "reasoning"
    piece = event.reasoning if thinking else event.text
    if not piece:
        return ()
    if thinking:
        memory.thought = id = memory.thought or memory.new_id("thought")
    elif memory.partial_id is not None and memory.partial_id != memory.thought:
        id = memory.partial_id
    else:
        id = memory.new_id("text")
    return memory.add_delta(id, piece, thinking=thinking, parent=memory.parent)


def _call(memory: Memory, event: shapes.ContentStart) -> Sequence[Event]:
    id = event.toolCallId or memory.new_id("call")
    if memory.has_started(id):
        return ()
    name, parent = event.toolName or "tool", None if memory.main_calls else memory.parent
    started = tools.TOOLS.started(
        id, name, event.input, title=tools.title(name, event.input), parent=parent
    )
    memory.tools[id] = started
    if name == tools.SUBAGENT:
        memory.enter(id)
    return [*memory.end_text(), started]


def _content_update(memory: Memory, event: shapes.ContentUpdate) -> Events:
    """Read output of a running command."""
    id, chunk = event.toolCallId, event.update.chunk
    return ToolProgress(id=id, output=chunk) if id in memory.tools and id and chunk else ()


def _content_end(memory: Memory, event: shapes.ContentEnd) -> Events:
    """Read the end of a text, a thought or a call."""
    if event.contentType == "tool":
        return _result(memory, event)
    if event.contentType == "reasoning":
        return _end_thought(memory, event.reasoning)
    if memory.partial_id is not None and memory.partial_id != memory.thought:
        return memory.end_text()
    return (
        (Text(id=memory.new_id("text"), text=event.text, parent=memory.parent),)
        if event.text
        else ()
    )


def _end_thought(memory: Memory, text: str | None) -> Sequence[Event]:
    thought, memory.thought = memory.thought, None
    if thought is not None:
        return memory.end_text() if memory.partial_id == thought else ()
    return (Thinking(id=memory.new_id("thought"), text=text, parent=memory.parent),) if text else ()


def _result(memory: Memory, event: shapes.ContentEnd) -> Events:
    id = event.toolCallId or memory.new_id("call")
    call = memory.tools.get(id)
    if call is None or call.kind != "execute" or memory.callers or memory.partial_id is not None:
        return _any_result(memory, id, event)
    output = tools.plain_output(event)
    if output is None:
        return _any_result(memory, id, event)
    memory.end(id)  # as most are: finish() would look everything up again
    name, parent = event.toolName or call.name, call.parent
    return ToolFinished(
        id=id, status="ok", name=name, kind=call.kind, output=output, exit_code=0, parent=parent
    )


def _any_result(memory: Memory, id: str, event: shapes.ContentEnd) -> Sequence[Event]:
    was_mixed = memory.leave(id)
    call = memory.tools.get(id)
    result = tools.result(event)
    events = memory.end_text() + memory.finish(
        id,
        result.status,
        name=event.toolName,
        output=result.text if result.status == "ok" or result.exit_code is not None else None,
        error=None if result.status == "ok" else result.text,
        exit_code=_exit_code(call, result),
        fix=PERMIT_ALL if result.needs_approval else None,
    )
    if was_mixed and isinstance(event.output, shapes.Output) and event.output.usage is not None:
        # It worked side by side with others.
        account, usage = _account(memory, id), usage_of(event.output.usage)
        report = reported(usage, message_id=account, scope="turn", parent=id)
        events.append(memory.count(report))
    if call is not None and result.status == "ok":
        events += tools.changes(call, result.text)
    return events


def _exit_code(call: ToolStarted | None, result: tools.Result) -> int | None:
    """The exit code of a command; of one that succeeded it is not written."""
    if call is not None and call.kind == "execute" and result.status == "ok":
        return 0
    return result.exit_code


def _usage(memory: Memory, event: shapes.UsageEvent) -> Events:
    """Read the usage of an agent so far; a cost of 0 stands for an unknown price."""
    if memory.parent in memory.mixed or not (event.totalInputTokens or event.totalOutputTokens):
        return ()  # whose usage it is, nobody knows: the result of the call reports it
    report = reported(
        usage_of(event),
        message_id=_account(memory, memory.parent),
        scope="turn",
        semantics="snapshot",
        cost_usd=credible(event.totalCost) or None,
        parent=memory.parent,
    )
    return memory.count(report)


def usage_of(used: shapes.UsageEvent | shapes.SubagentUsage) -> Usage:
    """The tokens of an agent so far, or of a subagent, whose cached input is unknown."""
    if isinstance(used, shapes.SubagentUsage):
        return Usage(input=used.inputTokens, output=used.outputTokens)
    read, written = used.totalCacheReadTokens, used.totalCacheWriteTokens
    return Usage(
        input=uncached(used.totalInputTokens, read, written),
        output=used.totalOutputTokens,
        cache_read=read,
        cache_write_5m=written,
    )


def _account(memory: Memory, parent: str | None) -> str:
    turn = f"turn {memory.results + 1}"
    return turn if parent is None else f"{turn} {parent}"


def _notice(memory: Memory, event: shapes.NoticeEvent) -> Events:
    """Read a notice, or the replacement of the conversation by a summary."""
    detail = event.metadata
    if (detail.kind or "").endswith("compaction") and detail.phase == "completed":
        before, after = detail.tokensBefore, detail.tokensAfter
        return ContextCompacted(trigger="auto", before_tokens=before, after_tokens=after)
    return Notice(level="info", text=event.message) if event.message else ()


def _error(memory: Memory, event: shapes.ErrorEvent) -> Events:
    """Read an error; those of calls were reported with the calls."""
    if event.recoverable and _REPEATED in (event.error.message or ""):
        return ()
    kind = _CLASSES.get(event.errorClass, "internal")
    error = Error(kind=kind, message=event.error.message)
    if event.recoverable is False and memory.parent is None:
        memory.failure = error
    return error


_EVENTS: Mapping[type[shapes.Event], Callable[[Memory, Any], Events]] = {
    shapes.ContentStart: _content_start,
    shapes.ContentUpdate: _content_update,
    shapes.ContentEnd: _content_end,
    shapes.UsageEvent: _usage,
    shapes.ErrorEvent: _error,
    shapes.NoticeEvent: _notice,
}
"""The events of an agent that have something neutral to report."""

TABLE = (
    Row(shapes.AgentEvent, agent_event),
    Row(shapes.HookEvent, hook_event),
    Row(shapes.RunResult, run_result),
    Row(shapes.RunAborted, run_aborted),
)

decoder = decoder_of("cline", stream_of(TABLE), Memory)
"""Returns a decoder for one stream of Cline."""
