"""Reads stored sessions of messages and their parts: the rows become lines of the stream."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.finished_parts import reader, shapes
from nightrook.adapter.finished_parts.memory import Memory, Totals
from nightrook.adapter.finished_parts.tools import KINDS
from nightrook.adapter.reader import Read, Table, no_events
from nightrook.adapter.shapes import Shape
from nightrook.adapter.stored import (
    TimedMemory,
    Transcript,
    note_time,
    transcript_decoder,
)
from nightrook.model.events import (
    Event,
    SessionStarted,
    TaskFinished,
    TaskStarted,
    ToolKind,
    UserMessage,
)

QUERY = """
SELECT line FROM (
  SELECT 0 AS place, 0 AS at, '' AS message, '' AS part, json_object(
    'type', 'session', 'sessionID', id, 'timestamp', time_created,
    'directory', directory, 'version', version) AS line
  FROM session WHERE id = :key
  UNION ALL
  SELECT 1, message.time_created, message.id, part.id, json_object(
    'type', CASE
      WHEN json_extract(part.data, '$.type') = 'text'
        AND json_extract(message.data, '$.role') = 'user' THEN 'prompt'
      WHEN json_extract(part.data, '$.type') = 'tool' THEN 'tool_use'
      ELSE replace(json_extract(part.data, '$.type'), '-', '_') END,
    'sessionID', part.session_id,
    'timestamp', part.time_created,
    'part', json_set(part.data, '$.id', part.id, '$.messageID', part.message_id))
  FROM part JOIN message ON message.id = part.message_id
  WHERE part.session_id = :key AND json_valid(part.data) AND json_valid(message.data)
  UNION ALL
  SELECT 1, time_created, id, 'z', json_object(
    'type', 'error', 'sessionID', session_id, 'timestamp', time_updated,
    'error', json_extract(data, '$.error'))
  FROM message
  WHERE session_id = :key AND json_valid(data) AND json_extract(data, '$.error') IS NOT NULL
) ORDER BY place, at, message, part
"""
"""The parts of a session in the order in which they were made, as the stream has them."""


class SessionMemory(Memory, TimedMemory):
    """What a stream needs; but a stored session has several turns, each with its own end."""

    def settle_turn(self) -> list[Event]:
        """Report the end of the turn that is open, as far as the session shows that it ended."""
        ended, _ = Memory.close(self)
        self.in_turn = False
        self.stopped, self.failure, self.texts, self.totals = None, None, [], Totals()
        return [*ended]


class _Session(Shape, tag="session", tag_field="type"):
    session: str | None = msgspec.field(default=None, name="sessionID")
    timestamp: int | None = None
    directory: str | None = None
    version: str | None = None


class _Prompt(Shape, tag="prompt", tag_field="type"):
    timestamp: int | None = None
    part: shapes.TextPart = msgspec.field(default_factory=shapes.TextPart)


def _session(memory: SessionMemory, session: _Session, line: bytes) -> Sequence[Event]:
    note_time(memory, session.timestamp)
    memory.session = session.session
    memory.sessions.add(session.session)
    return (
        SessionStarted(session=session.session, cwd=session.directory, version=session.version),
    )


def _prompt(memory: SessionMemory, prompt: _Prompt, line: bytes) -> Sequence[Event]:
    note_time(memory, prompt.timestamp)
    text, synthetic = prompt.part.text, prompt.part.synthetic or None
    if not text:
        return ()
    if synthetic:
        return (UserMessage(text=text, synthetic=True),)
    return [*memory.settle_turn(), *memory.begin_turn(), UserMessage(text=text)]


class _Timed(msgspec.Struct):
    timestamp: int | None = None


_timed = msgspec.json.Decoder(_Timed)


def _timed_read(read: Read[Any]) -> Read[Any]:
    def read_line(memory: SessionMemory, message: Any, line: bytes) -> Events:
        with suppress(ValueError, RecursionError):  # otherwise it has the time of the line before
            note_time(memory, _timed.decode(line).timestamp)
        return [*memory.begin_turn(), *as_sequence(read(memory, message, line))]

    return read_line


def _tool(memory: SessionMemory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read a call; a subagent has a session of its own, which is its task."""
    events = as_sequence(reader.tool_use(memory, message, line))
    session = message.part.state.metadata.sessionId
    if session is None or not events:
        return events
    started = TaskStarted(id=session, kind="subagent", tool_id=message.part.id)
    ended = TaskFinished(id=session, kind="subagent", tool_id=message.part.id, status="ok")
    return [events[0], started, ended, *events[1:]]


def transcript(
    agent: str,
    *,
    resume: Sequence[str],
    known: Mapping[str, str],
    kinds: Mapping[str, ToolKind] = KINDS,
) -> Transcript:
    """Return how stored sessions of an agent are read; `resume` is its command without the id."""
    table: Table[Any] = {
        _Session: _session,
        _Prompt: _prompt,
        shapes.StepStart: _timed_read(reader.step_start),
        shapes.Text: _timed_read(reader.text),
        shapes.Reasoning: _timed_read(reader.reasoning),
        shapes.ToolUse: _timed_read(_tool),
        shapes.StepFinish: _timed_read(reader.step_finish),
        shapes.Error: _timed_read(reader.error),
        **{
            msgspec.defstruct(name, [], tag=name, tag_field="type", gc=False): no_events
            for name in ("snapshot", "patch", "file", "agent", "retry", "compaction", "subtask")
        },
    }
    return Transcript(
        agent=agent,
        recognises=lambda _: False,
        decoder=transcript_decoder(agent, table, lambda: SessionMemory(known, kinds)),
        resume=lambda session: (*resume, session),
        query=QUERY,
    )
