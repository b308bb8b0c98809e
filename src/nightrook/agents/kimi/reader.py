"""The table of the lines that Kimi Code writes to its stream and to its stored sessions.

A session has a file for each of its agents; one has the prompts, the steps of the model with their
calls, and a record of the tokens of each request.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.history import Noted, Session, Used
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import Row, TableReader, silent_types, stream_of, union_of
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.stored import Stored, note_time
from nightrook.adapter.tools import first_of
from nightrook.adapter.usage import reported
from nightrook.agents.kimi import shapes, tools
from nightrook.agents.kimi.memory import Memory, SessionFacts, SessionMemory
from nightrook.agents.kimi.paths import MAIN
from nightrook.agents.kimi.tools import EDITED, ENDINGS
from nightrook.agents.kimi.tools import started as start_of
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    Notice,
    Retrying,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    Unknown,
    Usage,
    UserMessage,
)
from nightrook.model.text import one_line

_LONGEST_TITLE = 200
_SILENT = """
    agent.message.appended agent.turn.ended agent.turn.started context.append_message
    file_history.checkpoint file_history.tracked llm.tools_snapshot metadata permission.set_mode
    plugin.session_start prompt.completed runtime.set_binding token_counting.measured
    token_counting.turn_recorded turn.step.interrupted
"""
"""The types of lines that repeat others, or note what Kimi itself needs."""

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
    """Read a message about Kimi Code itself."""
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
    """Read the hint to resume the session: only a run that ended well writes it."""
    events = [*memory.begin_turn(), *memory.abandon()]
    if message.session_id is not None and message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        events.append(SessionStarted(session=message.session_id, version=memory.version))
    if memory.missed is not None:
        return [*events, memory.finish_turn(*memory.missed)]
    return [*events, memory.finish_turn(None, memory.answer)]


def goal(memory: Memory, message: shapes.Goal, line: bytes) -> Sequence[Event]:
    """Read the end of a goal, before the end of the run."""
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

# Stored sessions


_text_decoder = msgspec.json.Decoder(str)


def begin(parts: Sequence[str]) -> SessionFacts:
    """Return the facts by the path: `<work folder>/<session>/agents/<agent>/wire.jsonl`."""
    if len(parts) >= 4 and parts[-3] == "agents":
        return SessionFacts(session=parts[-4] or "unknown", agent=parts[-2])
    name = parts[-1] if parts else ""
    return SessionFacts(session=name.removesuffix(".jsonl") or "unknown")


def profile(memory: SessionMemory, line: shapes.Profile, raw: bytes) -> Sequence[Noted]:
    """Read the profile of the agent, and its working folder."""
    note_time(memory, line.time)
    facts, environment = memory.facts, line.environmentDisclosure
    facts.profile = line.profileName or facts.profile
    cwd = environment.cwd if environment else None
    started = SessionStarted(cwd=cwd)
    if not cwd:
        return (started,)
    facts.project = cwd
    return (started, Session(id=facts.session, at=facts.at, project=cwd))


def prompt(memory: SessionMemory, line: shapes.Prompt, raw: bytes) -> Sequence[Noted]:
    """Read a prompt; the first one of the main agent is the title of the session."""
    note_time(memory, line.time)
    texts = [words.text for words in line.input or () if words.text]
    synthetic = None if line.origin is None or line.origin.kind == "user" else True
    noted: list[Noted] = [*memory.next_turn()]
    noted.append(UserMessage(text="".join(texts), synthetic=synthetic))
    facts = memory.facts
    if not facts.is_titled and facts.agent == MAIN:
        title = one_line(" ".join(texts), _LONGEST_TITLE)
        facts.is_titled = bool(title)
        if title:
            noted.append(Session(id=facts.session, at=facts.at, title=title))
    return noted


def request(memory: SessionMemory, line: shapes.Request, raw: bytes) -> Sequence[Noted]:
    """Read the name of the model; records of usage have only its alias."""
    note_time(memory, line.time)
    if line.model:
        memory.facts.models[line.modelAlias or ""] = line.model
    return ()


def use(memory: SessionMemory, line: shapes.Use, raw: bytes) -> Sequence[Noted]:
    """Read a record of usage, whose only id is its place in the file."""
    note_time(memory, line.time)
    facts = memory.facts
    facts.records += 1
    if line.usage is None:
        return ()
    models, alias = facts.models, line.model or ""
    model = models.get(alias) or models.get("") or alias or None
    id = memory.new_id("request")
    used = Used(
        report=reported(usage_of(line.usage), message_id=id, model=model),
        id=f"{facts.session}/{facts.agent}/{facts.records}",
        subagent=None if facts.agent == MAIN else facts.profile or facts.agent,
    )
    return (used,)


def usage_of(used: shapes.Tokens) -> Usage:
    """The tokens of a request; its input excludes the cached ones."""
    return Usage(
        input=used.input_other,
        output=used.output,
        cache_read=used.input_cache_read,
        cache_write_5m=used.input_cache_creation,
    )


def loop_event(memory: SessionMemory, line: shapes.LoopEvent, raw: bytes) -> Sequence[Event]:
    """Read a step of the model: its texts, calls and their results."""
    note_time(memory, line.time)
    event = line.event or shapes.Event()
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


def _said(memory: SessionMemory, event: shapes.Event) -> Iterator[Event]:
    part, id = event.part or shapes.Words(), event.uuid or memory.new_id("text")
    if part.think:
        yield Thinking(id=id, text=part.think)
    elif part.text:
        memory.note_answer(part.text, is_last=True)
        yield Text(id=id, text=part.text)


def _called(memory: SessionMemory, event: shapes.Event) -> Sequence[Event]:
    id, name = event.tool_call_id or memory.new_id("call"), event.name or "tool"
    is_subagent = tools.TOOLS.kind(name) == "subagent"
    subagent = first_of(event.args, "subagent_type") if is_subagent else None
    return memory.start(tools.TOOLS.started(id, name, event.args, subagent=subagent))


def _returned(memory: SessionMemory, event: shapes.Event) -> Iterator[Event]:
    result, id = event.result or shapes.Result(), event.tool_call_id or ""
    call = memory.tools.get(id)
    output = salvage.decode_part(result.output, _text_decoder)
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


def turn_end(memory: SessionMemory, line: shapes.TurnEnd, raw: bytes) -> Sequence[Event]:
    """Read the end of a turn."""
    note_time(memory, line.time)
    events = [*memory.begin_turn(), *memory.abandon()]
    turns, memory.steps = memory.steps or None, 0
    said, memory.said, memory.is_answered = memory.said, None, False
    if line.reason in (None, "completed"):
        return [*events, memory.finish_turn(None, said, turns=turns)]
    error = line.error or shapes.Failure()
    if line.reason != "failed":
        reason = "interrupted" if line.reason in ("cancelled", "interrupted") else line.reason
        return [*events, memory.finish_turn(reason, error.message, turns=turns)]
    kind: Any = "auth" if error.code == "provider.auth_error" else "internal"
    failure = Error(kind=kind, message=error.message)
    return [*events, failure, memory.finish_turn("api_error", error.message, turns=turns)]


def compacted(memory: SessionMemory, line: shapes.Compaction, raw: bytes) -> Events:
    """Read the replacement of the context by a summary."""
    note_time(memory, line.time)
    return ContextCompacted()


TABLE = (
    Row(shapes.Assistant, assistant),
    Row(shapes.Tool, tool),
    Row(shapes.Meta, meta),
    Row(shapes.Goal, goal),
    Row(shapes.Profile, profile, "stored", (b'"profile.bind"',)),
    Row(shapes.Prompt, prompt, "stored", (b'"turn.prompt"',)),
    Row(shapes.Request, request, "stored", (b'"llm.request"',)),
    Row(shapes.Use, use, "stored", (b'"usage.record"',)),
    Row(shapes.LoopEvent, loop_event, "stored"),
    Row(shapes.TurnEnd, turn_end, "stored"),
    Row(shapes.Compaction, compacted, "stored"),
)
_MESSAGES = stream_of(TABLE)
_SHAPES = union_of(shape for shape in _MESSAGES if shape is not shapes.Goal)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of Kimi Code."""
    reader = TableReader(Memory(), _MESSAGES)
    return LineDecoder("kimi", _SHAPES, reader, untagged=shapes.Goal, cap=cap)


STORED = Stored(
    "kimi",
    TABLE,
    SessionMemory,
    facts=SessionFacts,
    begin=begin,
    silent=silent_types(_SILENT.split()),
    time="time",
)
"""Reads stored sessions."""
