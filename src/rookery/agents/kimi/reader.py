"""The table of Kimi Code's message types, and the decoder built on it."""

import re
from collections.abc import Callable, Mapping, Sequence

from rookery.adapter import salvage
from rookery.adapter.decoder import Events, LineDecoder
from rookery.adapter.lines import DEFAULT_CAP
from rookery.adapter.reader import Table, TableReader, union_of
from rookery.agents.kimi import shapes, tools
from rookery.agents.kimi.memory import Memory
from rookery.model.events import (
    Event,
    Notice,
    Retrying,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    Unknown,
)

# The result of a hook is written like a text of the model (from its source).
_HOOK = re.compile(
    r"(?:Pre|Post)(?:ToolUse|ToolUseFailure|Compact) hook|"
    r"(?:UserPromptSubmit|Stop|StopFailure|SubagentStart|SubagentStop|Session(?:Start|End)|"
    r"Permission(?:Request|Result)|Interrupt|Notification) hook"
)
_FIRST_OF_HOOKS = "PUSIN"  # letters
_BLOCKED = " blocked"
_LONGEST_HOOK = 50  # of all titles
_NO_FUNCTION = shapes.Function()
_COMPLETE = "complete"
_MISSED: Mapping[str, str] = {"paused": "paused", "blocked": "goal_blocked"}


def assistant(memory: Memory, message: shapes.Assistant, line: bytes) -> Events:
    """Read a text of the model, which is whole, and its calls."""
    calls = message.tool_calls
    if calls and len(calls) == 1 and memory.in_turn:  # as most are
        text = _text(memory, message.content) if message.content else None
        memory.answer = None
        started = _call(memory, calls[0])
        if text is None:
            return started or ()
        return (text,) if started is None else (text, started)
    events = [] if memory.in_turn else memory.begin_turn()
    if message.content:
        events.append(_text(memory, message.content))
    for call in calls or ():
        memory.answer = None
        if (started := _call(memory, call)) is not None:
            events.append(started)
    return events


def _text(memory: Memory, text: str) -> Event:
    if text[0] in _FIRST_OF_HOOKS and (notice := _hook(text)) is not None:
        return notice
    memory.answer = text
    return Text(id=memory.new_id("text"), text=text)


def _hook(text: str) -> Event | None:
    """Read the result of a hook; None if the text is the model's."""
    end = text.find("\n\n", 0, _LONGEST_HOOK)
    title, body = text[: max(end, 0)], text[end + 2 :]
    if _HOOK.fullmatch(title.removesuffix(_BLOCKED)):
        blocked = title.endswith(_BLOCKED)
        return Notice(level="warning" if blocked else "info", text=f"{title}: {body}")
    return None


def _call(memory: Memory, call: shapes.Call) -> Event | None:
    """Read the start of a call; None if it has started already."""
    id = call.id or memory.new_id("call")
    if id in memory.tools or id in memory.ended:
        return None
    function = call.function or _NO_FUNCTION
    name, arguments = function.name or "tool", function.arguments or ""
    memory.tools[id] = started = tools.started(id, name, arguments)
    return started


def tool(memory: Memory, message: shapes.Tool, line: bytes) -> Events:
    """Read the end of a call."""
    id, text = message.tool_call_id or memory.new_id("call"), message.content or ""
    call = memory.tools.get(id)
    if call is None or not memory.in_turn or tools.may_fail(call, text):
        return _tool(memory, id, call, text)
    kind = call.kind
    memory.ended[id] = None  # as most do: finish() would look everything up again
    del memory.tools[id]
    ended = ToolFinished(id=id, status="ok", name=call.name, kind=kind, output=text or None)
    return [ended, *tools.changes(call)] if kind in tools.CHANGING else ended


def _tool(memory: Memory, id: str, call: ToolStarted | None, text: str) -> Sequence[Event]:
    """Read the end of a call that may have failed, or have no start."""
    before = () if memory.in_turn else memory.begin_turn()
    failure = tools.failure_of(call, text)
    if failure is None:
        ended = memory.finish(id, "ok", output=tools.output_of(text))
        return [*before, *ended, *(tools.changes(call) if call else ())]
    output = (failure.text or None) if failure.exit_code is not None else None
    return [
        *before,
        *memory.finish(
            id,
            failure.status,
            output=output,
            error=failure.text or None,
            exit_code=failure.exit_code,
        ),
    ]


def meta(memory: Memory, message: shapes.Meta, line: bytes) -> Sequence[Event]:
    """Read what Kimi Code says about itself."""
    read = _META.get(message.type)
    if read is None:
        return (Unknown(name=f"meta/{message.type}", raw=salvage.raw_copy(line)),)
    return read(memory, message)


def _version(memory: Memory, message: shapes.Meta) -> Sequence[Event]:
    """Read the start of a process, which does not name its session."""
    events = memory.abandon()
    memory.in_turn = False
    memory.version = message.version
    if None not in memory.sessions:
        memory.sessions.add(None)
        events.append(SessionStarted(version=message.version))
    return events


def _retrying(memory: Memory, message: shapes.Meta) -> Sequence[Event]:
    delay = message.delay_ms
    retrying = Retrying(
        attempt=message.failed_attempt,
        max_attempts=message.max_attempts,
        delay_s=None if delay is None else delay / 1000,
        status=message.status_code,
        reason=message.error_message,
    )
    return [*memory.begin_turn(), retrying]


def _end(memory: Memory, message: shapes.Meta) -> Sequence[Event]:
    """Read how to resume the session: only a run that ended well says so."""
    events = [*memory.begin_turn(), *memory.abandon()]
    if message.session_id is not None and message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        events.append(SessionStarted(session=message.session_id, version=memory.version))
    if memory.missed is not None:
        return [*events, memory.finish_turn(*memory.missed)]
    return [*events, memory.finish_turn(None, memory.answer)]


def goal(memory: Memory, message: shapes.Goal, line: bytes) -> Sequence[Event]:
    """Read how a goal ended, before the end of the run."""
    if message.type != "goal.summary":
        return (Unknown(name=message.type, raw=salvage.raw_copy(line)),)
    events = memory.begin_turn()
    if message.status not in (None, _COMPLETE):
        sentence = f"the goal is {message.status}"
        sentence = f"{sentence}: {message.reason}" if message.reason else sentence
        memory.missed = (_MISSED.get(message.status, "goal_missed"), sentence)
    return events


_META: Mapping[str | None, Callable[[Memory, shapes.Meta], Sequence[Event]]] = {
    "system.version": _version,
    "turn.step.retrying": _retrying,
    "session.resume_hint": _end,
}

_TABLE: Table[Memory] = {
    shapes.Assistant: assistant,
    shapes.Tool: tool,
    shapes.Meta: meta,
    shapes.Goal: goal,
}
_SHAPES = union_of(shape for shape in _TABLE if shape is not shapes.Goal)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of Kimi Code."""
    reader = TableReader(Memory(), _TABLE)
    return LineDecoder("kimi", _SHAPES, reader, untagged=shapes.Goal, cap=cap)
