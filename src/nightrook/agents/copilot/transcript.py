"""What happened in the sessions that GitHub Copilot CLI keeps on disk: the messages of its stream.

A session has no result: a turn ends with the answer that the next prompt or the end follows. What
its file has beyond the stream are the session's own facts and the tokens of each request.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.reader import Read, Table, no_events, silent_types
from nightrook.adapter.shapes import Shape
from nightrook.adapter.stored import (
    TimedMemory,
    Transcript,
    note_time,
    transcript_decoder,
)
from nightrook.adapter.usage import uncached
from nightrook.agents.copilot import reader, shapes
from nightrook.agents.copilot.memory import Memory
from nightrook.model.events import Event, SessionStarted, UsageReported

_FILE = "events.jsonl"
_TIMESTAMP = re.compile(rb'"timestamp":"([^"\\]{1,40})"')
_ENVELOPE = 1000  # bytes at the end of a line, where the fields beside its data are
_OWN = frozenset({"session.start", "session.resume", "session.shutdown"})


class _Memory(Memory, TimedMemory):
    """What a stream needs, and the time of the last line."""

    def settle_turn(self) -> list[Event]:
        """Report the end of the open turn, as far as the session shows that it ended."""
        has_ended = self.answer is not None or self.failure is not None or self.stopped is not None
        if not self.in_turn or not has_ended:
            return []
        return [self.finish_turn(*reader.ending(self, None))]

    def close(self) -> tuple[Sequence[Event], int]:
        """End the turn if it was answered, and everything else that is open."""
        ended = self.settle_turn()
        events, open_tools = super().close()
        return [*ended, *events], open_tools


class _Context(Shape):
    cwd: str | None = None


class _StartData(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    session_id: str | None = None
    copilot_version: str | None = None
    selected_model: str | None = None
    context: _Context | None = None


class _Start(Shape, tag="session.start"):
    data: _StartData = _StartData()


class _Resume(Shape, tag="session.resume"):
    data: _StartData = _StartData()


class _Shutdown(Shape, tag="session.shutdown"):
    """The end of a process."""


class _RecordData(msgspec.Struct, frozen=True, gc=False):
    usage: shapes.UsageData = shapes.UsageData()


class _Record(Shape, tag="session.usage_record", rename="camel"):
    agent_id: str | None = None
    data: _RecordData = _RecordData()


def _start(memory: _Memory, message: _Start | _Resume, line: bytes) -> Events:
    data = message.data
    memory.model = data.selected_model or memory.model
    if data.session_id is None or data.session_id in memory.sessions:
        return ()
    memory.sessions.add(data.session_id)
    return SessionStarted(
        session=data.session_id,
        version=data.copilot_version,
        model=memory.model,
        cwd=data.context.cwd if data.context else None,
    )


def _user(memory: _Memory, message: shapes.UserMessage, line: bytes) -> Events:
    """Read a prompt: the user's own begins another turn."""
    ended: list[Event] = []
    if message.agent_id is None and not message.data.source:
        ended = memory.settle_turn()
        memory.in_turn = False
    return [*ended, *as_sequence(reader.user(memory, message, line))]


def _shutdown(memory: _Memory, message: _Shutdown, line: bytes) -> Events:
    return memory.settle_turn()


def _record(memory: _Memory, message: _Record, line: bytes) -> Events:
    used = message.data.usage
    read, written = used.cache_read_tokens, used.cache_write_tokens
    return UsageReported(
        message_id=used.api_call_id or memory.new_id("request"),
        model=used.model,
        scope="message",
        semantics="final",
        input=uncached(used.input_tokens, read, written),
        output=used.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=used.reasoning_tokens,
        parent=memory.parent(message.agent_id, None),
    )


def _timed(read: Read[_Memory]) -> Read[_Memory]:
    """Note the time of a line before it is read; its shapes leave it out, as the stream's do."""

    def timed(memory: _Memory, message: Any, line: bytes) -> Events:
        found = _TIMESTAMP.search(line, max(0, len(line) - _ENVELOPE))
        note_time(memory, found[1].decode("ascii", "replace") if found else None)
        return read(memory, message, line)

    return timed


def _recognises(message: Mapping[str, Any]) -> bool:
    """Whether a line is the start of a session, which its stream leaves out."""
    data = message.get("data")
    return (
        message.get("type") == "session.start"
        and isinstance(data, dict)
        and data.get("producer") == "copilot-agent"
    )


def _session_of(parts: Sequence[str]) -> str | None:
    """`<session>/events.jsonl`; in old versions `<session>.jsonl`."""
    if parts[-1] == _FILE:
        return parts[-2] if len(parts) > 1 else None
    return parts[-1].removesuffix(".jsonl")


def _resume(session: str) -> Sequence[str]:
    return ("copilot", f"--resume={session}")


_READ: Table[_Memory] = {
    **reader.TABLE,
    _Start: _start,
    _Resume: _start,
    _Shutdown: _shutdown,
    _Record: _record,
    shapes.UserMessage: _user,
    shapes.Usage: no_events,  # repeats the record of the same request
}
_SILENT: Table[_Memory] = silent_types(name for name in shapes.SILENT if name not in _OWN)
_TABLE: Table[_Memory] = {shape: _timed(read) for shape, read in {**_READ, **_SILENT}.items()}

TRANSCRIPT = Transcript(
    agent="copilot",
    recognises=_recognises,
    decoder=transcript_decoder("copilot", _TABLE, _Memory),
    session_of=_session_of,
    resume=_resume,
)
