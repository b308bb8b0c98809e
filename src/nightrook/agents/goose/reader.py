"""The table of the lines that Goose writes, and the rows of its store that the ledger reads.

A stored session has the messages of the stream, each whole; a query makes lines of them. What was
used is in another table: a row for each request, or sums of whole sessions in older versions.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from nightrook.adapter import memory as memories
from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.adapter.history import Facts, Finding, Session, make_call
from nightrook.adapter.reader import Row, decoder_of, stream_of
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.stored import SessionMemory, Stored, note_time
from nightrook.adapter.usage import reported, uncached
from nightrook.agents.goose import errors, shapes, tools
from nightrook.agents.goose.memory import INTERRUPTED, Memory
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    Notice,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolProgress,
    Unknown,
    Usage,
    UserMessage,
)
from nightrook.model.permissions import PERMIT_ALL
from nightrook.model.price import credible

_COMPACTED = "Compaction complete"
# The results of calls that were not permitted; nothing else marks them. The first is that of every
# call in the mode `chat` (1.52.0 chat_mode), the second from its source.
_REFUSED = (
    "Let the user know the tool call was skipped in goose chat mode.",
    "The user has declined to run this tool.",
)
_NO_METADATA = shapes.Metadata()
_NO_STORED_METADATA = shapes.StoredMetadata()
_metadata_decoder = msgspec.json.Decoder(shapes.Metadata)
_stored_metadata_decoder = msgspec.json.Decoder(shapes.StoredMetadata)
_CUT = (
    "the answer may have broken off: goose counted no tokens, which also happens if the model's "
    "server reports none"
)
_FULL = "the answer was cut off at the model's output limit"


def message(memory: Memory, message: shapes.Message, line: bytes) -> Events:
    """Read a message, whose parts are pieces of text, calls, results and notifications."""
    whole = message.message
    if whole is None:
        return ()
    parts = whole.content or ()
    if len(parts) == 1 and memory.partial_id is not None and whole.id == memory.message:
        # Almost every message is one more piece of the text before.
        part = parts[0]
        if part.text is not None and part.type == "text" and not memory.is_thinking:
            memory.pieces.append(part.text)
            return TextDelta(id=memory.partial_id, text=part.text)
        if part.thinking is not None and part.type == "thinking" and memory.is_thinking:
            memory.pieces.append(part.thinking)
            return ThinkingDelta(id=memory.partial_id, text=part.thinking)
    events = memory.begin_turn()
    metadata = salvage.decode_part(whole.metadata, _metadata_decoder) or _NO_METADATA
    is_own = metadata.inference is None and whole.role == "assistant"
    if metadata.inference is not None:
        memory.model = metadata.inference.requested_model or memory.model
        memory.failure = None
    memory.is_cut = metadata.output_token_limit_reached is True
    for part in parts:
        events += _part(memory, whole, part, line, is_own=is_own)
    return events


def _part(
    memory: Memory, whole: shapes.Content, part: shapes.Part, line: bytes, *, is_own: bool
) -> Sequence[Event]:
    text = part.text if part.type == "text" else None
    thought = part.thinking if part.type == "thinking" else None
    if (text or thought) and whole.role == "assistant":
        return _piece(memory, whole.id, text, thought, is_own=is_own)
    before = memory.end_text()
    if text is not None or thought is not None:
        return [*before, UserMessage(text=text, synthetic=True)] if text else before
    match part.type:
        case "toolRequest":
            return [*before, *call(memory, part)]
        case "toolResponse":
            return [*before, *result(memory, part)]
        case "systemNotification":
            return [*before, _notification(memory, part)]
        case "error":
            memory.failure = errors.read(part.message, part.kind)
            return [*before, memory.failure]
        case "redactedThinking":
            return [*before, Thinking(id=memory.next_part(whole.id), redacted=True)]
        case _:
            return [*before, Unknown(name=f"message/{part.type}", raw=salvage.raw_copy(line))]


def _piece(
    memory: Memory, message: str | None, text: str | None, thought: str | None, *, is_own: bool
) -> Sequence[Event]:
    """Read a piece of a text or thought; all pieces of it have the id of their message."""
    if text is not None:
        if is_own and errors.gives_up(text):
            memory.failure = errors.read(text)
            return [*memory.end_text(), memory.failure]
        memory.is_own = is_own
    is_thought = thought is not None
    is_more = message is not None and message == memory.message
    if not is_more or memory.partial_id is None or is_thought != memory.is_thinking:
        id = memory.next_part(message)
    else:
        id = memory.partial_id
    return memory.add_delta(id, text or thought or "", thinking=is_thought)


def call(memory: memories.Memory, part: shapes.Part) -> Sequence[Event]:
    """Read the start of a call; a request for a tool that does not exist has only an error."""
    memory.answer = None
    asked = part.tool_call or shapes.Call()
    id, value = part.id or memory.new_id("call"), asked.value or shapes.CallValue()
    name = value.name or tools.unknown_tool(asked.error)
    return memory.start(tools.TOOLS.started(id, name, value.arguments))


def result(memory: memories.Memory, part: shapes.Part) -> Sequence[Event]:
    """Read the end of a call, with the exit code of a command."""
    ended = part.tool_result or shapes.Result()
    id, value = part.id or memory.new_id("call"), ended.value or shapes.ResultValue()
    output = "\n".join(block.text for block in value.content or () if block.text is not None)
    code = value.structured_content.exit_code if value.structured_content else None
    if code is None and output.startswith(_REFUSED):  # a command that ran has an exit code
        return memory.finish(id, "denied", error=output, fix=PERMIT_ALL)
    if ended.status == "error" or ended.error is not None or value.is_error:
        text = ended.error or output
        return memory.finish(id, "error", output=output or None, error=text, exit_code=code)
    started = memory.tools.get(id)
    events = memory.finish(id, "ok", output=output or None, exit_code=code)
    if started is not None and started.kind == "edit":
        events += tools.changes(started, output)
    return events


def _notification(memory: Memory, part: shapes.Part) -> Event:
    """Read a message about Goose itself; used-up credit ends the run."""
    said = notice(part)
    memory.failure = said if isinstance(said, Error) else memory.failure
    return said


def notice(part: shapes.Part) -> Event:
    """Read a message about Goose itself: a compaction, or used-up credit."""
    if part.notification_type == "creditsExhausted":
        return Error(kind="quota", message=part.msg, retryable=False, needs_payment=True)
    if part.msg == _COMPACTED:
        return ContextCompacted(trigger="auto")
    return Notice(level="info", text=part.msg or "")


def notification(memory: Memory, message: shapes.Notification, line: bytes) -> Events:
    """Read a progress message of a call, such as the tool that a subagent uses."""
    if message.extension_id not in memory.tools:
        return ()
    log = message.log or shapes.Log()
    return ToolProgress(id=message.extension_id, output=log.message)


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read the end of a run that failed or was interrupted; tokens are not reported then."""
    if message.error == INTERRUPTED:
        return memory.interrupt()
    events = [*memory.begin_turn(), *memory.abandon()]
    if memory.failure is None:
        memory.failure = errors.read(message.error)
        events.append(memory.failure)
    return [*events, memory.finish_turn("api_error", memory.failure.message)]


def complete(memory: Memory, message: shapes.Complete, line: bytes) -> Sequence[Event]:
    """Read the end of a run; most failures end like this, too."""
    events = [*memory.begin_turn(), *memory.abandon()]
    answer = memory.answer
    if message.total_tokens:
        # Those of the session so far, with its subagents (1.52.0 subagent). Goose has a cost only
        # for models whose prices it knows.
        total = reported(
            usage_of(message),
            model=memory.model,
            scope="session",
            semantics="cumulative",
            cost_usd=message.cost_usd,
        )
        events.append(total)
    if memory.failure is not None:
        return [*events, memory.finish_turn("api_error", memory.failure.message)]
    if memory.is_own and answer is not None and answer.startswith(errors.LIMIT):
        return [*events, memory.finish_turn("max_turns", errors.LIMIT)]
    if memory.is_cut:
        return [*events, memory.finish_turn("max_tokens", _FULL)]
    if message.total_tokens == 0 and not memory.is_own:
        # The same for an answer that broke off and for a server that counts nothing (1.52.0
        # mid_stream_cut, no_usage).
        return [*events, memory.finish_turn("cut", _CUT)]
    return [*events, memory.finish_turn(None, answer)]


def usage_of(used: shapes.Complete | shapes.Tokens) -> Usage:
    """The tokens of a session so far, or of a request."""
    if isinstance(used, shapes.Tokens):
        read, written = used.cache_read_tokens, used.cache_write_tokens
    else:
        read, written = used.cache_read_input_tokens, used.cache_write_input_tokens
    return Usage(
        input=uncached(used.input_tokens, read, written),
        output=used.output_tokens,
        cache_read=read,
        cache_write_5m=written,
    )


# Stored sessions, as events


def session(memory: SessionMemory, line: shapes.Session, raw: bytes) -> Events:
    """Read the first line of a session."""
    note_time(memory, line.at)
    memory.sessions.add(line.id)
    return SessionStarted(session=line.id, cwd=line.cwd)


def stored_message(
    memory: SessionMemory, line: shapes.StoredMessage, raw: bytes
) -> Sequence[Event]:
    """Read a whole message."""
    note_time(memory, line.at)
    whole = line.message or shapes.Content()
    metadata = salvage.decode_part(whole.metadata, _stored_metadata_decoder) or _NO_STORED_METADATA
    events: list[Event] = []
    for number, part in enumerate(whole.content or (), 1):
        id = f"{whole.id or memory.new_id('message')}:{number}"
        if whole.role == "user" and part.type == "text":
            events += _prompt(memory, part.text or "", is_typed=metadata.user_visible is not False)
        else:
            events += _stored_part(memory, id, part, raw, is_own=metadata.inference is None)
    if whole.role == "assistant" and memory.failure is None:
        calls = any(part.type == "toolRequest" for part in whole.content or ())
        texts = [part.text for part in whole.content or () if part.type == "text" and part.text]
        memory.note_answer(texts[-1] if texts else None, is_last=not calls)
        if metadata.usage is not None:  # the cost in the store is an estimate of Goose's own
            model = metadata.inference.requested_model if metadata.inference else None
            usage = usage_of(metadata.usage)
            events.append(reported(usage, message_id=whole.id, model=model))
    return events


def _prompt(memory: SessionMemory, text: str, *, is_typed: bool) -> Sequence[Event]:
    """Read a prompt, or text that Goose adds to one."""
    if not is_typed:
        return (UserMessage(text=text, synthetic=True),)
    return [*memory.next_turn(), UserMessage(text=text)]


def _stored_part(
    memory: SessionMemory, id: str, part: shapes.Part, raw: bytes, *, is_own: bool
) -> Sequence[Event]:
    before = memory.begin_turn()
    match part.type:
        case "text" if is_own and errors.gives_up(part.text or ""):
            return [*before, _failed(memory, errors.read(part.text))]
        case "text":
            return [*before, Text(id=id, text=part.text or "")] if part.text else before
        case "thinking":
            return [*before, Thinking(id=id, text=part.thinking)]
        case "redactedThinking":
            return [*before, Thinking(id=id, redacted=True)]
        case "toolRequest":
            return [*before, *call(memory, part)]
        case "toolResponse":
            return [*before, *result(memory, part)]
        case "systemNotification":
            said = notice(part)
            return [*before, _failed(memory, said) if isinstance(said, Error) else said]
        case "error":
            return [*before, _failed(memory, errors.read(part.message, part.kind))]
        case "image":
            return before
        case _:
            return [*before, Unknown(name=f"message/{part.type}", raw=salvage.raw_copy(raw))]


def _failed(memory: SessionMemory, error: Error) -> Error:
    memory.failure = error.message or error.kind
    return error


# Stored sessions, as the ledger reads them


_MOST = 2**53  # tokens of one request


def read_ledger(rows: Sequence[tuple[Any, ...]]) -> list[Finding]:
    """Read the requests of a session, and its facts.

    Sessions are numbered per day, so those of two machines may have the same id: the time belongs
    to the identity of a request.
    """
    if not rows or not _text(rows[0][0]):
        return []
    id, parent, folder, name, updated, kind = rows[0][:6]
    found = Session(
        id=id,
        at=seconds_since_1970(updated),
        project=_text(folder),
        title=_text(name),
        parent=_text(parent),
    )
    facts = Facts(session=id, project=found.project)
    facts.subagent = "subagent" if found.parent or kind == "sub_agent" else None
    findings: list[Finding] = [found]
    for row in rows:
        number, at, model, *counts, cost = row[6:]
        facts.at = seconds_since_1970(at)
        usage = usage_of(shapes.Tokens(*map(_count, counts)))
        identity, paid = f"{id} {number} {at}", _cost(cost)
        findings.append(make_call(usage, facts, id=identity, model=_text(model), cost_usd=paid))
    return findings


def read_totals(rows: Sequence[tuple[Any, ...]]) -> list[Finding]:
    """Read the sum of a session, for versions that did not store each request."""
    findings: list[Finding] = []
    for id, folder, updated, config, input, output in rows:
        if not _text(id) or not _count(input) + _count(output):
            continue
        facts = Facts(session=id, at=seconds_since_1970(updated), project=_text(folder))
        findings.append(Session(id=id, at=facts.at, project=facts.project))
        usage = usage_of(shapes.Tokens(_count(input), _count(output)))
        identity, model = f"{id} total", _model(config)
        findings.append(
            make_call(usage, facts, id=identity, model=model, summed=True, fallback=True)
        )
    return findings


def _model(config: object) -> str | None:
    try:
        named = msgspec.json.decode(config).get("model_name") if isinstance(config, str) else None
    except (ValueError, AttributeError, RecursionError):
        return None
    return _text(named)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value <= _MOST else 0


def _cost(value: object) -> float | None:
    """Return the cost; 0 stands for an unknown price."""
    paid = credible(value) if isinstance(value, int | float) else None
    return float(paid) if paid else None


TABLE = (
    Row(shapes.Message, message),
    Row(shapes.Notification, notification),
    Row(shapes.Error, error),
    Row(shapes.Complete, complete),
    Row(shapes.Session, session, "stored"),
    Row(shapes.StoredMessage, stored_message, "stored"),
)

decoder = decoder_of("goose", stream_of(TABLE), Memory)
"""Returns a decoder for one stream of Goose."""

STORED = Stored("goose", TABLE, SessionMemory)
"""Reads stored sessions."""
