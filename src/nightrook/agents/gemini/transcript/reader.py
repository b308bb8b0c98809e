"""Reads the lines of stored sessions as events: a message is written again when it changes."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.stored import SessionMemory, note_time, transcript_decoder
from nightrook.adapter.usage import uncached
from nightrook.agents.gemini import tools
from nightrook.agents.gemini.transcript import shapes
from nightrook.model.events import (
    Error,
    Event,
    Notice,
    SessionStarted,
    Status,
    Text,
    Thinking,
    UsageReported,
    UserMessage,
)

_MOST_MESSAGES = 20_000
_CONTEXT = "<session_context>"
_WORKSPACE = re.compile(r"Workspace Directories:\*\*\n +- ([^\n]+)")
_STATUSES: dict[str | None, Status] = {
    "success": "ok",
    "error": "error",
    "cancelled": "cancelled",
}


class _Memory(SessionMemory):
    """What is remembered between the lines of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, None] = {}  # messages whose text was reported
        self.session: str | None = None
        self.folder: str | None = None

    def is_new(self, id: str) -> bool:
        """Whether a message was not read before."""
        if id in self.seen:
            return False
        self.seen[id] = None
        forget_oldest(self.seen, _MOST_MESSAGES)
        return True


_message = msgspec.json.Decoder(shapes.AnyMessage)
_content: msgspec.json.Decoder[str | list[shapes.Part]] = msgspec.json.Decoder(
    str | list[shapes.Part]
)
_text = msgspec.json.Decoder(str)


def _facts(memory: _Memory, facts: shapes.Facts, line: bytes) -> Sequence[Event]:
    note_time(memory, facts.startTime)
    memory.session = facts.sessionId or memory.session
    memory.folder = next(iter(facts.directories or ()), memory.folder)
    messages = (facts.changed.messages if facts.changed else None) or ()
    events: list[Event] = []
    for raw in messages:
        message = salvage.decode_part(raw, _message)
        if message is not None:
            events += _TABLE[type(message)](memory, message, bytes(raw))
    return events


def _session(memory: _Memory, cwd: str | None) -> Sequence[Event]:
    """Report the session, once its folder is known or its first message comes."""
    if memory.session is None or memory.session in memory.sessions:
        return ()
    memory.sessions.add(memory.session)
    return (SessionStarted(session=memory.session, cwd=cwd or memory.folder),)


def _plain(content: msgspec.Raw) -> str:
    read = salvage.decode_part(content, _content) if content else None
    if isinstance(read, str):
        return read
    return "".join(part.text or "" for part in read or ())


def _user(memory: _Memory, message: shapes.User, line: bytes) -> Sequence[Event]:
    note_time(memory, message.timestamp)
    text = _plain(message.content)
    if text.startswith(_CONTEXT):
        folder = _WORKSPACE.search(text)
        return _session(memory, folder[1] if folder else None)
    events = [*_session(memory, None)]
    if not text or not memory.is_new(message.id or memory.new_id("message")):
        return events
    return [*events, *memory.next_turn(), UserMessage(text=text)]


def _gemini(memory: _Memory, message: shapes.Gemini, line: bytes) -> Sequence[Event]:
    note_time(memory, message.timestamp)
    id = message.id or memory.new_id("message")
    events: list[Event] = [*_session(memory, None)]
    text = _plain(message.content)
    if memory.is_new(id):
        events += memory.begin_turn()
        events += _thoughts(id, message.thoughts or ())
        if text:
            events.append(Text(id=id, text=text))
        events += _usage(id, message)
        memory.note_answer(text or None, is_last=True)
    for call in message.toolCalls or ():
        memory.is_answered = False
        events += _called(memory, call)
    return events


def _thoughts(id: str, thoughts: Sequence[shapes.Thought]) -> Iterator[Event]:
    for number, thought in enumerate(thoughts):
        parts = (f"**{thought.subject}**" if thought.subject else "", thought.description or "")
        yield Thinking(id=f"{id}:{number}", text="\n".join(filter(None, parts)))


def _usage(id: str, message: shapes.Gemini) -> Iterator[Event]:
    tokens = message.tokens
    if tokens is None:
        return
    yield UsageReported(
        message_id=id,
        model=message.model,
        scope="message",
        semantics="final",
        input=(uncached(tokens.input, tokens.cached) or 0) + tokens.tool,
        output=tokens.output + tokens.thoughts,
        cache_read=tokens.cached,
        reasoning=tokens.thoughts,
    )


def _called(memory: _Memory, call: shapes.Call) -> Iterator[Event]:
    """Read a call, which is stored when it has ended."""
    id, name = call.id or memory.new_id("call"), call.name or "tool"
    if memory.has_started(id):
        return
    kind = tools.subagent(call.args) if name == tools.SUBAGENT else None
    started = tools.TOOLS.started(id, name, call.args, subagent=kind)
    yield from memory.start(started)
    status = _STATUSES.get(call.status, "error")
    output, error = _returned(call)
    failed = status != "ok"
    yield from memory.finish(
        id, status, output=None if failed else output, error=(error or output) if failed else None
    )
    if not failed and started.kind in tools.CHANGING:
        yield from tools.changes(name, id, call.args)


def _returned(call: shapes.Call) -> tuple[str | None, str | None]:
    """What a call returned: what the agent shows, else what its model gets; and its error."""
    responses = [
        result.functionResponse.response
        for result in call.result or ()
        if result.functionResponse and result.functionResponse.response
    ]
    shown = salvage.decode_part(call.resultDisplay, _text) if call.resultDisplay else None
    output = shown or next((each.output for each in responses if each.output), None)
    return output, next((each.error for each in responses if each.error), None)


def _notice(memory: _Memory, message: shapes.Info | shapes.Warning, line: bytes) -> Sequence[Event]:
    note_time(memory, message.timestamp)
    text = _plain(message.content)
    if not text or not memory.is_new(message.id or memory.new_id("message")):
        return ()
    return (Notice(level="info" if isinstance(message, shapes.Info) else "warning", text=text),)


def _error(memory: _Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    note_time(memory, message.timestamp)
    text = _plain(message.content)
    if not memory.is_new(message.id or memory.new_id("message")):
        return ()
    memory.failure = text or "the request failed"
    return (Error(kind="internal", message=text or None),)


_TABLE: dict[type[msgspec.Struct], Any] = {
    shapes.User: _user,
    shapes.Gemini: _gemini,
    shapes.Info: _notice,
    shapes.Warning: _notice,
    shapes.Error: _error,
    shapes.Facts: _facts,
}

decoder = transcript_decoder("gemini", _TABLE, _Memory, untagged=shapes.Facts)
"""Returns a decoder for one stored session of Gemini CLI."""
