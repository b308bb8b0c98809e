"""What happened in the sessions that Droid keeps on disk: messages of several parts each."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.reader import Table
from nightrook.adapter.shapes import NOTHING, Shape
from nightrook.adapter.stored import (
    TimedMemory,
    Transcript,
    note_time,
    transcript_decoder,
)
from nightrook.agents.droid import errors, reader, shapes
from nightrook.agents.droid.memory import Memory
from nightrook.model.events import Event, SessionStarted, Unknown, UserMessage

_CONTEXT = "context-"
"""How the ids of messages begin that Droid adds to a prompt itself."""

_UPSTREAM = re.compile(r"^Upstream error: (.+)$", re.MULTILINE)
_text = msgspec.json.Decoder(str)
_blocks = msgspec.json.Decoder(list[shapes.Message])


class _Memory(Memory, TimedMemory):
    """What a stream needs, and the last answer: a session repeats it nowhere."""

    said: str | None = None


class _Start(Shape, tag="session_start"):
    id: str | None = None
    cwd: str | None = None


class _Part(Shape):
    """A part of a message; which fields it has depends on its type."""

    type: str | None = None
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: msgspec.Raw = NOTHING


class _Content(Shape):
    role: str | None = None
    content: list[_Part] | None = None
    visibility: str | None = None


class _Message(Shape, tag="message"):
    id: str | None = None
    timestamp: str | float | None = None
    message: _Content | None = None


class _Outcome(Shape, tag="agent_turn_outcome"):
    reason: str | None = None


def _start(memory: _Memory, line: _Start, raw: bytes) -> Events:
    return memory.enter(SessionStarted(session=line.id, cwd=line.cwd))


def _message(memory: _Memory, line: _Message, raw: bytes) -> Events:
    note_time(memory, line.timestamp)
    content = line.message or _Content()
    if content.role not in ("user", "assistant"):
        return Unknown(name=f"message/{content.role}", raw=salvage.raw_copy(raw))
    events: list[Event] = []
    for part in content.content or ():
        events += as_sequence(_part(memory, line.id, content, part, raw))
    return events


def _part(memory: _Memory, id: str | None, content: _Content, part: _Part, raw: bytes) -> Events:
    match part.type:
        case "text" if content.role == "user":
            return _prompt(memory, id, content, part.text or "")
        case "text":
            memory.said = part.text or memory.said
            return reader.message(
                memory, shapes.Message(role="assistant", id=id, text=part.text), raw
            )
        case "thinking" | "redacted_thinking":
            return reader.reasoning(memory, shapes.Reasoning(id=id, text=part.thinking), raw)
        case "tool_use":
            call = shapes.ToolCall(
                id=part.id, messageId=id, toolName=part.name, parameters=part.input
            )
            return reader.tool_call(memory, call, raw)
        case "tool_result":
            result = shapes.ToolResult(
                id=part.tool_use_id, isError=part.is_error, value=_output(part.content)
            )
            return reader.tool_result(memory, result, raw)
        case "image" | "document":
            return ()
        case _:
            return Unknown(name=f"message/{part.type}", raw=salvage.raw_copy(raw))


def _prompt(memory: _Memory, id: str | None, content: _Content, text: str) -> Events:
    """Read a prompt, what Droid adds to one, or an error that is shown to the user only."""
    if content.visibility == "user_only":
        reason = _UPSTREAM.search(text)
        memory.failure = errors.read(reason[1] if reason else text)
        return [*memory.begin_turn(), memory.failure]
    if (id or "").startswith(_CONTEXT):
        return UserMessage(text=text, synthetic=True)
    memory.said = None
    return [*memory.begin_turn(), UserMessage(text=text)]


def _output(content: msgspec.Raw) -> str | None:
    """The text of a result: a string, or blocks with texts."""
    text = salvage.decode_part(content, _text)
    if text is not None:
        return text
    blocks = salvage.decode_part(content, _blocks) or ()
    return "\n".join(block.text for block in blocks if block.text) or None


def _outcome(memory: _Memory, line: _Outcome, raw: bytes) -> Sequence[Event]:
    events = [*memory.begin_turn(), *memory.abandon()]
    turns = memory.steps or None
    if memory.failure is not None:
        message = memory.failure.message
        return [*events, memory.finish_turn("api_error", message, turns=turns)]
    failed = None if line.reason in (None, "completed") else line.reason
    return [
        *events,
        memory.finish_turn(failed, memory.said if failed is None else failed, turns=turns),
    ]


def _recognises(message: Mapping[str, Any]) -> bool:
    return message.get("type") == "session_start" and "hostId" in message


def _session_of(parts: Sequence[str]) -> str | None:
    return parts[-1].removesuffix(".jsonl")


def _resume(session: str) -> Sequence[str]:
    return ("droid", "--resume", session)


_TABLE: Table[_Memory] = {_Start: _start, _Message: _message, _Outcome: _outcome}

TRANSCRIPT = Transcript(
    agent="droid",
    recognises=_recognises,
    decoder=transcript_decoder("droid", _TABLE, _Memory),
    session_of=_session_of,
    resume=_resume,
)
