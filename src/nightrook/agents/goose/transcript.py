"""What happened in the sessions that Goose keeps in its store: the rows become messages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.adapter.reader import Table
from nightrook.adapter.shapes import Count, Shape
from nightrook.adapter.stored import (
    SessionMemory,
    Transcript,
    note_time,
    transcript_decoder,
)
from nightrook.adapter.usage import uncached
from nightrook.agents.goose import errors, reader, shapes
from nightrook.model.events import (
    Error,
    Event,
    SessionStarted,
    Text,
    Thinking,
    Unknown,
    UsageReported,
    UserMessage,
)

QUERY = """
SELECT line FROM (
  SELECT 0 AS place, 0 AS id, json_object(
    'type', 'session', 'id', id, 'at', created_at, 'cwd', working_dir) AS line
  FROM sessions WHERE id = :key
  UNION ALL
  SELECT 1, id, json_object(
    'type', 'message', 'at', created_timestamp, 'message', json_object(
      'id', message_id, 'role', role, 'content', json(content_json),
      'metadata', json(iif(json_valid(metadata_json), metadata_json, '{}'))))
  FROM messages WHERE session_id = :key AND json_valid(content_json)
) ORDER BY place, id
"""
"""The messages of a session in the order in which they were stored."""

CHANGES = """
SELECT id, updated_at || ' ' || coalesce(
  (SELECT max(messages.id) FROM messages WHERE session_id = sessions.id), 0)
FROM sessions
"""
"""All sessions: the history leaves out those that used nothing."""


class _Usage(Shape, rename="camel"):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class _Metadata(Shape, rename="camel"):
    user_visible: bool | None = None
    inference: shapes.Inference | None = None
    usage: _Usage | None = None


class _Session(Shape, tag="session"):
    id: str | None = None
    at: str | None = None
    cwd: str | None = None


class _Message(Shape, tag="message"):
    at: float | None = None
    message: shapes.Content | None = None


_metadata = msgspec.json.Decoder(_Metadata)
_NO_METADATA = _Metadata()


def _session(memory: SessionMemory, line: _Session, raw: bytes) -> Events:
    note_time(memory, line.at)
    memory.sessions.add(line.id)
    return SessionStarted(session=line.id, cwd=line.cwd)


def _message(memory: SessionMemory, line: _Message, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.at)
    whole = line.message or shapes.Content()
    metadata = salvage.decode_part(whole.metadata, _metadata) or _NO_METADATA
    events: list[Event] = []
    for number, part in enumerate(whole.content or (), 1):
        id = f"{whole.id or memory.new_id('message')}:{number}"
        if whole.role == "user" and part.type == "text":
            events += _prompt(memory, part.text or "", is_typed=metadata.user_visible is not False)
        else:
            events += _part(memory, id, part, raw, is_own=metadata.inference is None)
    if whole.role == "assistant" and memory.failure is None:
        calls = any(part.type == "toolRequest" for part in whole.content or ())
        texts = [part.text for part in whole.content or () if part.type == "text" and part.text]
        memory.note_answer(texts[-1] if texts else None, is_last=not calls)
        events += _usage(whole.id, metadata)
    return events


def _prompt(memory: SessionMemory, text: str, *, is_typed: bool) -> Sequence[Event]:
    """Read a prompt, or what Goose adds to one."""
    if not is_typed:
        return (UserMessage(text=text, synthetic=True),)
    return [*memory.next_turn(), UserMessage(text=text)]


def _part(
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
            return [*before, *reader.call(memory, part)]
        case "toolResponse":
            return [*before, *reader.result(memory, part)]
        case "systemNotification":
            said = reader.notice(part)
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


def _usage(id: str | None, metadata: _Metadata) -> Iterator[Event]:
    """The tokens of a message; the cost in the store is an estimate of Goose's own."""
    used = metadata.usage
    if used is None:
        return
    read, written = used.cache_read_tokens, used.cache_write_tokens
    yield UsageReported(
        message_id=id,
        model=metadata.inference.requested_model if metadata.inference else None,
        scope="message",
        semantics="final",
        input=uncached(used.input_tokens, read, written),
        output=used.output_tokens,
        cache_read=read,
        cache_write_5m=written,
    )


def _recognises(message: Mapping[str, Any]) -> bool:
    """Return False: the sessions are in a store, not in files of lines."""
    return False


def _resume(session: str) -> Sequence[str]:
    return ("goose", "session", "--resume", "--session-id", session)


_TABLE: Table[SessionMemory] = {_Session: _session, _Message: _message}

TRANSCRIPT = Transcript(
    agent="goose",
    recognises=_recognises,
    decoder=transcript_decoder("goose", _TABLE, SessionMemory),
    resume=_resume,
    query=QUERY,
    changes=CHANGES,
)
