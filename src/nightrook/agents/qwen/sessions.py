"""Reads the lines of stored sessions, as events and as usage.

Telemetry reports the tokens of each response, and is the only line for those of subagents. Where a
session has none, the answers report theirs. Sessions do not report when a turn ends: the next
prompt, or the end of the file, shows whether its last message was an answer.
"""

from collections.abc import Iterator, Sequence

import msgspec

from nightrook.adapter import history, salvage
from nightrook.adapter.history import Noted, Session, Used, call_id
from nightrook.adapter.stored import SessionMemory, StoredMemory, note_time
from nightrook.adapter.stream_json import usage_of
from nightrook.adapter.usage import reported
from nightrook.agents.qwen import shapes, tools
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
from nightrook.model.text import one_line

_STATUSES: dict[str | None, Status] = {"success": "ok", "error": "error", "cancelled": "cancelled"}
_RESPONSE = "qwen-code.api_response"
_FAILURE = "qwen-code.api_error"
_COMPRESSED = "chat_compression"
_SILENT = frozenset(
    {
        *("attribution_snapshot", "file_history_snapshot", "slash_command", "at_command"),
        *("session_meta", "notification", "mid_turn_user_message", "cron"),
    }
)
"""Subtypes that Qwen Code writes for itself."""

_LONGEST_TITLE = 200
_text = msgspec.json.Decoder(str)


class Facts(history.Facts, omit_defaults=True):
    """The ledger's state between the lines of a file."""

    version: str | None = None
    forked_from: str | None = None
    is_titled: bool = False
    is_reported: bool = False
    """True if the session was returned as a finding, with these facts."""

    has_telemetry: bool = False
    """True if telemetry reports the tokens of requests: answers repeat them."""


class Memory(SessionMemory, StoredMemory):
    """The state of reading a stored session, as events and for the ledger."""

    facts: Facts


def begin(parts: Sequence[str]) -> Facts:
    """Return the facts of a file at its start: the session has the name of the file."""
    name = (parts[-1] if parts else "").removesuffix(".jsonl")
    return Facts(session=name.encode(errors="replace").decode() or "unknown")


def _begin(memory: Memory, line: shapes.StoredLine) -> list[Event]:
    note_time(memory, line.timestamp)
    if line.sessionId is None or line.sessionId in memory.sessions:
        return []
    memory.sessions.add(line.sessionId)
    return [SessionStarted(session=line.sessionId, cwd=line.cwd, version=line.version)]


def _session(facts: Facts, line: shapes.StoredLine) -> Sequence[Session]:
    """The session, if the line reports something new about it."""
    fork = line.forkedFrom
    reported = (
        line.sessionId or facts.session,
        line.cwd or facts.project,
        line.gitBranch or facts.branch,
        line.version or facts.version,
        (fork.sessionId if fork is not None else None) or facts.forked_from,
    )
    known = (facts.session, facts.project, facts.branch, facts.version, facts.forked_from)
    if facts.is_reported and reported == known:
        return ()
    facts.session, facts.project, facts.branch, facts.version, facts.forked_from = reported
    facts.is_reported = True
    return (_of(facts),)


def _of(facts: Facts, title: str | None = None) -> Session:
    return Session(
        id=facts.session,
        at=facts.at,
        project=facts.project,
        branch=facts.branch,
        title=title,
        version=facts.version,
        forked_from=facts.forked_from,
    )


def _title(facts: Facts, text: str) -> Iterator[Session]:
    if title := one_line(text, _LONGEST_TITLE):
        facts.is_titled = True
        yield _of(facts, title)


def _parts(message: shapes.StoredMessage | None) -> Sequence[shapes.Part]:
    return (message.parts if message else None) or ()


def user(memory: Memory, line: shapes.StoredUser, raw: bytes) -> Sequence[Noted]:
    """Read a prompt; the first one is the title of the session until a better one is set."""
    noted: list[Noted] = [*_begin(memory, line), *_session(memory.facts, line)]
    texts = [part.text for part in _parts(line.message) if part.text]
    if not texts:
        return noted
    if not memory.facts.is_titled and not line.subtype:
        noted += _title(memory.facts, " ".join(texts))
    return [*noted, *memory.next_turn(), UserMessage(text="".join(texts))]


def assistant(memory: Memory, line: shapes.StoredAssistant, raw: bytes) -> Sequence[Event]:
    """Read an answer, or a part of one: thoughts, texts and calls."""
    events = [*_begin(memory, line), *memory.begin_turn()]
    said: str | None = None
    calls = False
    for number, part in enumerate(_parts(line.message)):
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
    return [*events, *_used_by_answer(memory, line)]


def counted_answer(memory: Memory, line: shapes.CountedAnswer, raw: bytes) -> Sequence[Noted]:
    """Read the usage in an answer, for the ledger."""
    note_time(memory, line.timestamp)
    noted: list[Noted] = [*_session(memory.facts, line)]
    for report in _used_by_answer(memory, line):
        noted.append(Used(report=report, copied=line.forkedFrom is not None, fallback=True))
    return noted


def _used_by_answer(memory: Memory, line: shapes.CountedAnswer) -> Sequence[UsageReported]:
    """The tokens of an answer, if no telemetry reports them."""
    if memory.facts.has_telemetry or line.usageMetadata is None:
        return ()
    used = usage_of(line.usageMetadata)
    return (reported(used, message_id=line.uuid, model=line.model or None),)


def _called(memory: Memory, call: shapes.FunctionCall) -> Sequence[Event]:
    id, name = call.id or memory.new_id("call"), call.name or "tool"
    kind = tools.subagent(call.args) if tools.TOOLS.kind(name) == "subagent" else None
    return memory.start(tools.TOOLS.started(id, name, call.args, subagent=kind))


def tool_result(memory: Memory, line: shapes.StoredToolResult, raw: bytes) -> Sequence[Event]:
    """Read the result of a tool."""
    events = _begin(memory, line)
    result = line.toolCallResult or shapes.CallResult()
    for part in _parts(line.message):
        if part.functionResponse is not None:
            events += _returned(memory, part.functionResponse, result)
    memory.is_answered = False
    return events


def _returned(
    memory: Memory, response: shapes.FunctionResponse, result: shapes.CallResult
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


def system(memory: Memory, line: shapes.StoredSystem, raw: bytes) -> Sequence[Noted]:
    """Read telemetry, a title, or another entry of Qwen Code's, by its subtype."""
    noted: list[Noted] = [*_begin(memory, line), *_session(memory.facts, line)]
    payload = line.systemPayload or shapes.Payload()
    if line.subtype == "ui_telemetry":
        event = payload.uiEvent
        return noted if event is None else [*noted, *_telemetry(memory, line, event)]
    if line.subtype == "custom_title":
        return [*noted, *_title(memory.facts, payload.customTitle or "")]
    if line.subtype == _COMPRESSED:
        return [*noted, ContextCompacted()]
    if line.subtype in _SILENT:
        return noted
    return [*noted, Unknown(name=f"system/{line.subtype}", raw=salvage.raw_copy(raw))]


def _telemetry(
    memory: Memory, line: shapes.StoredSystem, event: shapes.Telemetry
) -> Iterator[Noted]:
    if event.name == _FAILURE:
        message = event.error_message or event.error
        memory.failure = message or "the request failed"
        yield Error(kind="internal", message=message)
    if event.name != _RESPONSE:
        return
    memory.facts.has_telemetry = True
    message_id = event.response_id or line.uuid
    yield Used(
        report=reported(usage_of(event), message_id=message_id, model=event.model or None),
        id=call_id(event.response_id, line.uuid),
        subagent=event.subagent_name or None,
        copied=line.forkedFrom is not None,
    )
