"""What happened in the sessions that Kimi Code keeps on disk: a file for each of its agents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.adapter.reader import Table, silent_types
from nightrook.adapter.shapes import NOTHING, Count, Shape
from nightrook.adapter.stored import (
    SessionMemory,
    Transcript,
    note_time,
    transcript_decoder,
)
from nightrook.adapter.tools import first_of
from nightrook.agents.kimi.tools import TOOLS
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    SessionStarted,
    Text,
    Thinking,
    Unknown,
    UsageReported,
    UserMessage,
)

_MAIN = "main"
_SILENT = """
    agent.message.appended agent.turn.ended agent.turn.started context.append_message
    file_history.checkpoint file_history.tracked llm.tools_snapshot metadata permission.set_mode
    plugin.session_start prompt.completed runtime.set_binding token_counting.measured
    token_counting.turn_recorded turn.step.interrupted
"""
"""The types of lines that repeat others, or note what Kimi itself needs."""


class _Memory(SessionMemory):
    """What is remembered between the lines of a file."""

    model: str | None = None
    """The model of the last request; records of use have its alias."""

    steps = 0


class _Line(Shape):
    time: float | None = None


class _Environment(Shape):
    cwd: str | None = None


class _Profile(_Line, tag="profile.bind"):
    environment: _Environment | None = msgspec.field(default=None, name="environmentDisclosure")


class _Words(Shape):
    type: str | None = None
    text: str | None = None
    think: str | None = None


class _Origin(Shape):
    kind: str | None = None


class _Prompt(_Line, tag="turn.prompt"):
    input: list[_Words] | None = None
    origin: _Origin | None = None


class _Request(_Line, tag="llm.request"):
    model: str | None = None


class _Tokens(Shape, rename="camel"):
    input_other: Count | None = None
    output: Count | None = None
    input_cache_read: Count | None = None
    input_cache_creation: Count | None = None


class _Use(_Line, tag="usage.record"):
    usage: _Tokens | None = None


class _Result(Shape, rename="camel"):
    output: msgspec.Raw = NOTHING
    is_error: bool | None = None


class _Event(Shape, rename="camel"):
    """A step of the loop; which fields it has depends on its type."""

    type: str | None = None
    uuid: str | None = None
    part: _Words | None = None
    tool_call_id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING
    result: _Result | None = None
    finish_reason: str | None = None


class _LoopEvent(_Line, tag="context.append_loop_event"):
    event: _Event | None = None


class _Failure(Shape):
    code: str | None = None
    message: str | None = None


class _TurnEnd(_Line, tag="turn.ended"):
    reason: str | None = None
    error: _Failure | None = None


class _Compaction(_Line, tag="context.compacted"):
    """The context was summed up."""


_text = msgspec.json.Decoder(str)


def _profile(memory: _Memory, line: _Profile, raw: bytes) -> Events:
    note_time(memory, line.time)
    return SessionStarted(cwd=line.environment.cwd if line.environment else None)


def _prompt(memory: _Memory, line: _Prompt, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.time)
    text = "".join(words.text or "" for words in line.input or ())
    synthetic = None if line.origin is None or line.origin.kind == "user" else True
    return [*memory.next_turn(), UserMessage(text=text, synthetic=synthetic)]


def _request(memory: _Memory, line: _Request, raw: bytes) -> Events:
    note_time(memory, line.time)
    memory.model = line.model or memory.model
    return ()


def _use(memory: _Memory, line: _Use, raw: bytes) -> Events:
    note_time(memory, line.time)
    used = line.usage or _Tokens()
    return UsageReported(
        message_id=memory.new_id("request"),
        model=memory.model,
        scope="message",
        semantics="final",
        input=used.input_other,
        output=used.output,
        cache_read=used.input_cache_read,
        cache_write_5m=used.input_cache_creation,
    )


def _loop_event(memory: _Memory, line: _LoopEvent, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.time)
    event = line.event or _Event()
    before = memory.begin_turn()
    match event.type:
        case "step.begin":
            memory.steps += 1
            return before
        case "content.part":
            return [*before, *_said(memory, event)]
        case "tool.call":
            memory.is_answered = False
            return [*before, *_called(memory, event)]
        case "tool.result":
            return [*before, *_returned(memory, event)]
        case "step.end":
            return before
        case _:
            return [*before, Unknown(name=f"loop/{event.type}", raw=salvage.raw_copy(raw))]


def _said(memory: _Memory, event: _Event) -> Iterator[Event]:
    part, id = event.part or _Words(), event.uuid or memory.new_id("text")
    if part.think:
        yield Thinking(id=id, text=part.think)
    elif part.text:
        memory.note_answer(part.text, is_last=True)
        yield Text(id=id, text=part.text)


def _called(memory: _Memory, event: _Event) -> Sequence[Event]:
    id, name = event.tool_call_id or memory.new_id("call"), event.name or "tool"
    is_subagent = TOOLS.kind(name) == "subagent"
    subagent = first_of(event.args, "subagent_type") if is_subagent else None
    return memory.start(TOOLS.started(id, name, event.args, subagent=subagent))


def _returned(memory: _Memory, event: _Event) -> Iterator[Event]:
    result, id = event.result or _Result(), event.tool_call_id or ""
    call = memory.tools.get(id)
    output = salvage.decode_part(result.output, _text)
    if output is None and result.output:
        output = bytes(result.output).decode("utf-8", "replace")
    failed = bool(result.is_error)
    yield from memory.finish(
        id,
        "error" if failed else "ok",
        output=None if failed else output or None,
        error=output or None if failed else None,
    )
    if call is not None and call.kind == "edit" and not failed:
        path = first_of(call.input or NOTHING, "path")
        if path is not None:
            yield FileChanged(path=path, tool_id=id)


def _turn_end(memory: _Memory, line: _TurnEnd, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.time)
    events = [*memory.begin_turn(), *memory.abandon()]
    turns, memory.steps = memory.steps or None, 0
    said, memory.said, memory.is_answered = memory.said, None, False
    if line.reason in (None, "completed"):
        return [*events, memory.finish_turn(None, said, turns=turns)]
    error = line.error or _Failure()
    if line.reason != "failed":
        reason = "interrupted" if line.reason in ("cancelled", "interrupted") else line.reason
        return [*events, memory.finish_turn(reason, error.message, turns=turns)]
    kind: Any = "auth" if error.code == "provider.auth_error" else "internal"
    failure = Error(kind=kind, message=error.message)
    return [*events, failure, memory.finish_turn("api_error", error.message, turns=turns)]


def _compacted(memory: _Memory, line: _Compaction, raw: bytes) -> Events:
    note_time(memory, line.time)
    return ContextCompacted()


def _recognises(message: Mapping[str, Any]) -> bool:
    return message.get("type") == "metadata" and "protocol_version" in message


def _session_of(parts: Sequence[str]) -> str | None:
    """`<work folder>/<session>/agents/<agent>/wire.jsonl`."""
    return parts[-4] if len(parts) >= 4 and parts[-3] == "agents" else None


def _task_of(parts: Sequence[str]) -> str | None:
    """The agent whose file it is, unless it is the main one."""
    is_known = len(parts) >= 2 and parts[-2] != _MAIN and _session_of(parts) is not None
    return parts[-2] if is_known else None


def _resume(session: str) -> Sequence[str]:
    return ("kimi", "--resume", session)


_TABLE: Table[_Memory] = {
    _Profile: _profile,
    _Prompt: _prompt,
    _Request: _request,
    _Use: _use,
    _LoopEvent: _loop_event,
    _TurnEnd: _turn_end,
    _Compaction: _compacted,
    **silent_types(_SILENT.split()),
}

TRANSCRIPT = Transcript(
    agent="kimi",
    recognises=_recognises,
    decoder=transcript_decoder("kimi", _TABLE, _Memory),
    session_of=_session_of,
    task_of=_task_of,
    resume=_resume,
)
