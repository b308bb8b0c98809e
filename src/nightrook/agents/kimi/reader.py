"""The table of Kimi Code's message types, and the decoder built on it."""

import re
from collections.abc import Callable, Mapping, Sequence

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import Table, TableReader, union_of
from nightrook.agents.kimi import shapes, tools
from nightrook.agents.kimi.memory import Memory
from nightrook.agents.kimi.tools import EDITED, ENDINGS
from nightrook.agents.kimi.tools import started as start_of
from nightrook.model.events import (
    Event,
    Notice,
    Retrying,
    SessionStarted,
    Text,
    ToolFinished,
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
_COMPLETE = "complete"
_MISSED: Mapping[str, str] = {"paused": "paused", "blocked": "goal_blocked"}


def assistant(memory: Memory, message: shapes.Assistant, line: bytes) -> Events:
    """Read a text of the model, which is whole, and its calls."""
    text, calls = message.content, message.tool_calls
    if not calls or len(calls) > 1 or not memory.in_turn:
        return _assistant(memory, text, calls or ())
    call = calls[0]  # the only one, as in most messages
    id, function = call.id, call.function
    if not id or id in memory.tools or id in memory.ended:
        return _assistant(memory, text, calls)
    memory.tools[id] = started = start_of(id, function.name, function.arguments)
    said = _text(memory, text) if text else None
    memory.answer = None
    return started if said is None else (said, started)


def _assistant(memory: Memory, text: str | None, calls: Sequence[shapes.Call]) -> Sequence[Event]:
    """Read a text and any number of calls."""
    events = memory.begin_turn()
    if text:
        events.append(_text(memory, text))
    for call in calls:
        memory.answer = None
        id, function = call.id or memory.new_id("call"), call.function
        events += memory.start(tools.started(id, function.name, function.arguments))
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


def tool(memory: Memory, message: shapes.Tool, line: bytes) -> Events:
    """Read the end of a call."""
    id, text = message.tool_call_id, message.content
    if not id or not text or id not in memory.tools:
        return _tool(memory, id or memory.new_id("call"), text or "")
    call = memory.tools[id]
    kind = call.kind
    if kind == "edit":
        if not text.startswith(EDITED):
            return _tool(memory, id, text)
    elif kind == "plan" or text.endswith(ENDINGS):
        return _tool(memory, id, text)
    memory.ended[id] = None  # as most do: finish() would look everything up again
    del memory.tools[id]
    ended = ToolFinished(id=id, status="ok", name=call.name, kind=kind, output=text)
    return ended if kind != "edit" else (ended, *tools.changes(call))


def _tool(memory: Memory, id: str, text: str) -> Sequence[Event]:
    """Read the end of a call that may have failed, changed the plan, or have no start."""
    before, call = memory.begin_turn(), memory.tools.get(id)
    failure = tools.failure_of(call, text)
    if failure is None:
        ended = memory.finish(id, "ok", output=tools.output_of(text))
        return [*before, *ended, *(tools.changes(call) if call else ())]
    ended = memory.finish(
        id,
        failure.status,
        output=(failure.text or None) if failure.exit_code is not None else None,
        error=failure.text or None,
        exit_code=failure.exit_code,
    )
    return [*before, *ended]


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
