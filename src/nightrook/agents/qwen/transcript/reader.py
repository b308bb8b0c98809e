"""Reads the lines of stored sessions as events."""

from collections.abc import Iterator, Sequence

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.reader import Table
from nightrook.adapter.stored import SessionMemory, note_time, transcript_decoder
from nightrook.adapter.usage import uncached
from nightrook.agents.qwen import tools
from nightrook.agents.qwen.transcript import shapes
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    SessionStarted,
    Status,
    Text,
    Thinking,
    Unknown,
    UsageReported,
    UserMessage,
)

_STATUSES: dict[str | None, Status] = {"success": "ok", "error": "error", "cancelled": "cancelled"}
_RESPONSE = "qwen-code.api_response"
_FAILURE = "qwen-code.api_error"
_COMPRESSED = "chat_compression"
_SILENT = frozenset(
    {
        *("attribution_snapshot", "file_history_snapshot", "slash_command", "at_command"),
        *("session_meta", "custom_title", "notification", "mid_turn_user_message", "cron"),
    }
)
"""What Qwen Code notes for itself."""

_text = msgspec.json.Decoder(str)


class _Memory(SessionMemory):
    """What is remembered between the lines of a file."""

    counts_requests = False
    """Whether its telemetry reports the tokens of requests: answers repeat them."""


def _begin(memory: _Memory, line: shapes.Entry) -> list[Event]:
    note_time(memory, line.timestamp)
    if line.sessionId is None or line.sessionId in memory.sessions:
        return []
    memory.sessions.add(line.sessionId)
    return [SessionStarted(session=line.sessionId, cwd=line.cwd, version=line.version)]


def _parts(line: shapes.Entry) -> Sequence[shapes.Part]:
    return (line.message.parts if line.message else None) or ()


def _user(memory: _Memory, line: shapes.User, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    text = "".join(part.text or "" for part in _parts(line))
    return [*events, *memory.next_turn(), UserMessage(text=text)] if text else events


def _assistant(memory: _Memory, line: shapes.Assistant, raw: bytes) -> Sequence[Event]:
    events = [*_begin(memory, line), *memory.begin_turn()]
    said: str | None = None
    calls = False
    for number, part in enumerate(_parts(line)):
        id = f"{line.uuid or memory.new_id('message')}:{number}"
        if part.functionCall is not None:
            calls = True
            events += _called(memory, part.functionCall)
        elif part.text and part.thought:
            events.append(Thinking(id=id, text=part.text))
        elif part.text:
            said = part.text
            events.append(Text(id=id, text=part.text))
    memory.note_answer(said, is_last=not calls)
    if not memory.counts_requests and line.usageMetadata is not None:
        events.append(_usage_of(line, line.usageMetadata))
    return events


def _usage_of(line: shapes.Assistant, used: shapes.Usage) -> UsageReported:
    return UsageReported(
        message_id=line.uuid,
        model=line.model,
        scope="message",
        semantics="final",
        input=uncached(used.promptTokenCount, used.cachedContentTokenCount),
        output=used.candidatesTokenCount,
        cache_read=used.cachedContentTokenCount,
        reasoning=used.thoughtsTokenCount,
    )


def _called(memory: _Memory, call: shapes.FunctionCall) -> Sequence[Event]:
    id, name = call.id or memory.new_id("call"), call.name or "tool"
    kind = tools.subagent(call.args) if tools.TOOLS.kind(name) == "subagent" else None
    return memory.start(tools.TOOLS.started(id, name, call.args, subagent=kind))


def _tool_result(memory: _Memory, line: shapes.ToolResult, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    result = line.toolCallResult or shapes.CallResult()
    for part in _parts(line):
        if part.functionResponse is not None:
            events += _returned(memory, part.functionResponse, result)
    memory.is_answered = False
    return events


def _returned(
    memory: _Memory, response: shapes.FunctionResponse, result: shapes.CallResult
) -> Iterator[Event]:
    id = response.id or result.callId or ""
    call = memory.tools.get(id)
    status = _STATUSES.get(result.status, "error")
    inner = response.response or shapes.Response()
    shown = salvage.decode_part(result.resultDisplay, _text) if result.resultDisplay else None
    whole = inner.output or inner.error or ""
    exit_code = None
    if call is not None and call.kind == "execute":
        read = tools.shell(whole, failed=status != "ok")
        exit_code, whole = read.exit_code, read.output or ""
        status = "error" if status == "ok" and exit_code else status
    if status == "error":
        status = tools.failure(inner.error or whole)
    failed = status != "ok"
    text = (inner.error if failed else shown) or whole or None
    yield from memory.finish(
        id,
        status,
        output=None if failed else text,
        error=text if failed else None,
        exit_code=exit_code,
    )
    if call is not None and not failed:
        yield from tools.changes(call.name, id, call.input, inner.output)


def _system(memory: _Memory, line: shapes.System, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    if line.subtype == "ui_telemetry":
        event = line.systemPayload.uiEvent if line.systemPayload else None
        return events if event is None else [*events, *_telemetry(memory, event)]
    if line.subtype == _COMPRESSED:
        return [*events, ContextCompacted()]
    if line.subtype in _SILENT:
        return events
    return [*events, Unknown(name=f"system/{line.subtype}", raw=salvage.raw_copy(raw))]


def _telemetry(memory: _Memory, event: shapes.Telemetry) -> Iterator[Event]:
    if event.name == _FAILURE:
        message = event.error_message or event.error
        memory.failure = message or "the request failed"
        yield Error(kind="internal", message=message)
    if event.name != _RESPONSE:
        return
    memory.counts_requests = True
    yield UsageReported(
        message_id=event.response_id or memory.new_id("request"),
        model=event.model,
        scope="message",
        semantics="final",
        input=uncached(event.input_token_count, event.cached_content_token_count),
        output=event.output_token_count,
        cache_read=event.cached_content_token_count,
        reasoning=event.thoughts_token_count,
    )


_TABLE: Table[_Memory] = {
    shapes.User: _user,
    shapes.Assistant: _assistant,
    shapes.ToolResult: _tool_result,
    shapes.System: _system,
}

decoder = transcript_decoder("qwen", _TABLE, _Memory)
"""Returns a decoder for one stored session of Qwen Code."""
