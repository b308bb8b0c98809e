"""The table of the lines that Gemini CLI writes to its stream and to its stored sessions.

A stored session is a file of messages; a message is written again when it gets its tool calls. The
lines without a type have facts about the session, or what has changed of it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.history import Noted, Session, make_call
from nightrook.adapter.reader import Row, Table, decoder_of, stream_of
from nightrook.adapter.stored import Stored, note_time
from nightrook.adapter.usage import reported, uncached
from nightrook.agents.gemini import errors, shapes, tools
from nightrook.agents.gemini.memory import Memory, SessionFacts, SessionMemory
from nightrook.model.events import (
    Error,
    Event,
    Notice,
    SessionStarted,
    Status,
    Text,
    TextDelta,
    Thinking,
    ToolFinished,
    ToolStarted,
    Unknown,
    Usage,
    UserMessage,
)
from nightrook.model.permissions import PERMIT_ALL
from nightrook.model.text import one_line

_LONGEST_TITLE = 200
_CONTEXT = "<session_context>"
_NOT_PROMPTS = (_CONTEXT, "<hook_context>", "/", "?")
"""The beginnings of messages that the agent or its commands add."""

_WORKSPACE = re.compile(r"Workspace Directories:\*\*\n +- ([^\n]+)")
"""The first folder in the message with which a session begins."""

_STATUSES: dict[str | None, Status] = {
    "success": "ok",
    "error": "error",
    "cancelled": "cancelled",
}
_NO_ERROR = shapes.ErrorDetail()
_MISSING = "tool_not_registered"  # the model called a tool that is not offered to it
_REFUSED = "policy_violation"  # a rule or a hook refused exactly this call (0.61.0 policy_rule)
# The tool is permitted, but this call of it isn't (0.61.0 redirection).
_UNCONFIRMED = re.compile(
    r'Tool execution for "[^"\n]+" requires user confirmation, which is not supported in '
    r"non-interactive mode\."
)
_REDIRECTS = re.compile(r"[<>]")


def init(memory: Memory, message: shapes.Init, line: bytes) -> Sequence[Event]:
    """Read the start of a process; everything that an earlier one left open is orphaned."""
    events = memory.abandon()
    memory.in_turn = False
    if message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        events.append(SessionStarted(session=message.session_id, model=message.model))
    return events


def message(memory: Memory, message: shapes.Message, line: bytes) -> Events:
    """Read a piece of the model's text, which has neither id nor end, or the user's prompt."""
    text = message.content
    if message.role == "assistant":
        if not text:
            return ()
        if message.delta and memory.partial_id is not None:
            memory.pieces.append(text)
            return TextDelta(id=memory.partial_id, text=text)
        return _begin_text(memory, text, whole=not message.delta)
    if message.role != "user":
        return (Unknown(name=f"message/{message.role}", raw=salvage.raw_copy(line)),)
    return [*memory.end_text(), *memory.begin_turn(), UserMessage(text=text or "")]


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read the start of a call."""
    before = memory.advance()
    memory.answer = None
    id = message.tool_id or memory.new_id("call")
    if memory.has_started(id):
        return before
    name, input = message.tool_name or "tool", message.parameters
    subagent = tools.subagent(input) if name == tools.SUBAGENT else None
    memory.tools[id] = started = tools.TOOLS.started(id, name, input, subagent=subagent)
    return [*before, started] if before else started


def tool_result(memory: Memory, message: shapes.ToolResult, line: bytes) -> Events:
    """Read the end of a call; a failed command is reported as a success (0.61.0 shell_fail)."""
    id = message.tool_id or memory.new_id("call")
    call = memory.tools.get(id)
    output = message.output or None  # "" means that the output is not reported (0.61.0 file_edit)
    ok, before = message.status == "success", memory.advance()
    if ok and call is not None and not before and call.kind not in tools.CHANGING:
        memory.end(id)  # as most do: finish() would look everything up again
        return ToolFinished(id=id, status="ok", name=call.name, kind=call.kind, output=output)
    if ok:
        events = memory.finish(id, "ok", output=output)
        if call is not None and call.kind in tools.CHANGING:
            events += tools.changes(call.name, id, call.input)
        return before + events if before else events
    error = message.error or _NO_ERROR
    denied = call is not None and _is_denied(call.name, error)
    fix = _fix(call, error) if denied and call is not None else None
    status: Status = "denied" if denied else "error"
    text = error.message or output
    return before + memory.finish(id, status, output=output, error=text, fix=fix)


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read an error or warning; only the result ends the turn."""
    memory.failure = message.message
    if message.message in errors.STOPS:
        memory.stopped = message.message
    if message.severity == "warning":
        return (Notice(level="warning", text=message.message or ""),)
    return (Error(kind="internal", message=message.message),)


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of the only turn of a process, with the tokens of the whole process."""
    events = [*memory.begin_turn(), *memory.abandon()]
    stats = message.stats or shapes.Stats()
    for model, used in (stats.models or {}).items():
        if used.total_tokens or used.input_tokens or used.output_tokens:  # zeros: not counted
            events.append(reported(usage_of(used), model=model, scope="turn"))
    # The duration of a failed turn is reported as 0 (0.61.0 max_turns).
    duration_s = stats.duration_ms / 1000 if stats.duration_ms else None
    if message.status == "success" and memory.stopped is None:
        return [*events, memory.finish_turn(None, memory.answer, duration_s=duration_s)]
    reason, text = _failure(message.error, memory)
    if message.error is not None and reason == "api_error":
        failure = errors.read(message.error)
        events.append(failure)
        text = failure.message
    return [*events, memory.finish_turn(reason, text, duration_s=duration_s)]


def _failure(error: shapes.ErrorDetail | None, memory: Memory) -> tuple[str, str | None]:
    """The reason why a turn failed, and a message.

    A result without an error follows an error message: the model's answer was empty or invalid, or
    Gemini CLI stopped the model, which it reports as a success.
    """
    if error is not None:
        return errors.REASONS.get(error.type, "api_error"), error.message
    if memory.stopped is not None:
        return errors.STOPS[memory.stopped], memory.stopped
    return "error", memory.failure


def _begin_text(memory: Memory, text: str, *, whole: bool) -> Sequence[Event]:
    events = memory.advance()
    id = memory.new_id("text")
    if not whole:
        return [*events, *memory.add_delta(id, text)]
    memory.answer = text
    return [*events, Text(id=id, text=text)]


def _is_denied(name: str, error: shapes.ErrorDetail) -> bool:
    """True if a call failed because its tool is not permitted.

    When it cannot ask, Gemini CLI hides the tools that need approval and those that a policy
    denies (0.61.0 perm_denied, perm_policy_deny). So a missing built-in tool was denied; any other
    missing tool is an invention of the model.
    """
    if error.type == _MISSING:
        return name in tools.TOOLS.kinds
    return error.type == _REFUSED or _UNCONFIRMED.fullmatch(error.message or "") is not None


def _fix(call: ToolStarted, error: shapes.ErrorDetail) -> str | None:
    """Return the option that would allow a denied call, unless a policy forbids it: not reported.

    That is a rule, except for a command that writes to a file or reads from one: it needs approval
    even if a rule allows commands (0.61.0 redirection).
    """
    if error.type == _REFUSED:
        return None
    if error.type != _MISSING or (call.kind == "execute" and _REDIRECTS.search(call.title or "")):
        return PERMIT_ALL
    return call.name


def usage_of(used: shapes.ModelStats | shapes.Tokens) -> Usage:
    """The tokens of a model or of a message; the cached ones are part of the input.

    A stream counts thinking only in the total (0.61.0 thinking): the rest of it is reasoning.
    """
    if isinstance(used, shapes.Tokens):
        return Usage(
            input=(uncached(used.input, used.cached) or 0) + used.tool,
            output=used.output + used.thoughts,
            cache_read=used.cached,
            reasoning=used.thoughts,
        )
    input, output, reasoning = used.input_tokens, used.output_tokens, None
    if used.total_tokens is not None and input is not None and output is not None:
        reasoning = max(0, used.total_tokens - input - output)
        output += reasoning
    return Usage(
        input=uncached(input, used.cached),
        output=output,
        cache_read=used.cached,
        reasoning=reasoning,
    )


# Stored sessions, as events


_message = msgspec.json.Decoder(shapes.AnyMessage)
_content: msgspec.json.Decoder[str | list[shapes.Part]] = msgspec.json.Decoder(
    str | list[shapes.Part]
)
_text = msgspec.json.Decoder(str)


def facts(memory: SessionMemory, line: shapes.Line, raw: bytes) -> Sequence[Event]:
    """Read facts about the session; those that change may have messages."""
    note_time(memory, line.startTime)
    memory.session = line.sessionId or memory.session
    memory.folder = next(iter(line.directories or ()), memory.folder)
    events: list[Event] = []
    for part in (line.changed.messages if line.changed else None) or ():
        message = salvage.decode_part(part, _message)
        if message is not None:
            events += as_sequence(_MESSAGES[type(message)](memory, message, bytes(part)))
    return events


def _session(memory: SessionMemory, cwd: str | None) -> Sequence[Event]:
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


def prompt(memory: SessionMemory, message: shapes.Prompt, line: bytes) -> Sequence[Event]:
    """Read a prompt, or the message about folders that the agent begins with."""
    note_time(memory, message.timestamp)
    text = _plain(message.content)
    if text.startswith(_CONTEXT):
        folder = _WORKSPACE.search(text)
        return _session(memory, folder[1] if folder else None)
    events = [*_session(memory, None)]
    if not text or not memory.is_new(message.id or memory.new_id("message")):
        return events
    return [*events, *memory.next_turn(), UserMessage(text=text)]


def answer(memory: SessionMemory, message: shapes.Answer, line: bytes) -> Sequence[Event]:
    """Read an answer of the model, or its tool calls if it was read before."""
    note_time(memory, message.timestamp)
    id = message.id or memory.new_id("message")
    events: list[Event] = [*_session(memory, None)]
    text = _plain(message.content)
    if memory.is_new(id):
        events += memory.begin_turn()
        events += _thoughts(id, message.thoughts or ())
        if text:
            events.append(Text(id=id, text=text))
        if message.tokens is not None:
            events.append(reported(usage_of(message.tokens), message_id=id, model=message.model))
        memory.note_answer(text or None, is_last=True)
    for call in message.toolCalls or ():
        memory.is_answered = False
        events += _called(memory, call)
    return events


def _thoughts(id: str, thoughts: Sequence[shapes.Thought]) -> Iterator[Event]:
    for number, thought in enumerate(thoughts):
        parts = (f"**{thought.subject}**" if thought.subject else "", thought.description or "")
        yield Thinking(id=f"{id}:{number}", text="\n".join(filter(None, parts)))


def _called(memory: SessionMemory, call: shapes.Call) -> Iterator[Event]:
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
    """Return the output of a call (the displayed one, or else its model's), and its error."""
    responses = [
        result.functionResponse.response
        for result in call.result or ()
        if result.functionResponse and result.functionResponse.response
    ]
    shown = salvage.decode_part(call.resultDisplay, _text) if call.resultDisplay else None
    output = shown or next((each.output for each in responses if each.output), None)
    return output, next((each.error for each in responses if each.error), None)


def notice(
    memory: SessionMemory, message: shapes.Info | shapes.Warning, line: bytes
) -> Sequence[Event]:
    """Read a notice or a warning."""
    note_time(memory, message.timestamp)
    text = _plain(message.content)
    if not text or not memory.is_new(message.id or memory.new_id("message")):
        return ()
    return (Notice(level="info" if isinstance(message, shapes.Info) else "warning", text=text),)


def failure(memory: SessionMemory, message: shapes.Failure, line: bytes) -> Sequence[Event]:
    """Read the failure of a request."""
    note_time(memory, message.timestamp)
    text = _plain(message.content)
    if not memory.is_new(message.id or memory.new_id("message")):
        return ()
    memory.failure = text or "the request failed"
    return (Error(kind="internal", message=text or None),)


_MESSAGES: Table[Any] = {
    shapes.Prompt: prompt,
    shapes.Answer: answer,
    shapes.Info: notice,
    shapes.Warning: notice,
    shapes.Failure: failure,
}


# Stored sessions, as the ledger reads them


def begin(parts: Sequence[str]) -> SessionFacts:
    """Return the facts of a session by its path: `<project>/chats[/<parent session>]/<name>`."""
    name = (parts[-1] if parts else "").rpartition(".")[0] or "unknown"
    parent = parts[-2] if len(parts) > 2 and parts[-3] == "chats" else None
    return SessionFacts(session=name, parent=parent, is_subagent=parent is not None)


def session(memory: SessionMemory, line: shapes.Line, raw: bytes) -> Sequence[Noted]:
    """Read facts about the session, and those that change, which may have messages."""
    note_time(memory, line.timestamp)
    noted = [*_known(memory, line)]
    return [*noted, *_known(memory, line.changed)] if line.changed is not None else noted


def _known(memory: SessionMemory, line: shapes.Facts) -> Iterator[Noted]:
    facts = memory.facts
    known = (facts.session, facts.project)
    note_time(memory, line.startTime)
    facts.session = line.sessionId or facts.session
    facts.is_subagent |= line.kind == "subagent"
    facts.is_titled |= bool(line.summary)
    facts.project = next(filter(None, line.directories or ()), facts.project)
    if line.sessionId or line.summary or known != (facts.session, facts.project):
        yield Session(
            id=facts.session,
            at=facts.at,
            project=facts.project,
            title=one_line(line.summary or "", _LONGEST_TITLE) or None,
            parent=facts.parent,
        )
    for part in line.messages or ():
        message = salvage.decode_part(part, _counted)
        if isinstance(message, shapes.Request):
            yield from request(memory, message, b"")
        elif message is not None:
            yield from title(memory, message, b"")


def title(memory: SessionMemory, message: shapes.Prompt, line: bytes) -> Sequence[Noted]:
    """Take the first prompt of the user as the title, until the agent saves a summary.

    Before it, the agent writes a message that names the folder of the session.
    """
    facts, text = memory.facts, ""
    if not facts.is_titled or facts.project is None:
        content = salvage.decode_part(message.content, _content)
        parts = content if isinstance(content, list) else [shapes.Part(content)]
        text = " ".join(part.text for part in parts if part.text)
    folder = _WORKSPACE.search(text) if text.startswith(_CONTEXT) else None
    if folder is not None and facts.project is None:
        facts.project = folder[1]
        return (Session(id=facts.session, at=facts.at, project=facts.project),)
    note_time(memory, message.timestamp)
    if facts.is_titled or not text.strip() or text.lstrip().startswith(_NOT_PROMPTS):
        return ()
    facts.is_titled = True
    return (Session(id=facts.session, at=facts.at, title=one_line(text, _LONGEST_TITLE)),)


def request(memory: SessionMemory, message: shapes.Request, line: bytes) -> Sequence[Noted]:
    """Read the tokens of an answer, which is written again with its tool calls."""
    note_time(memory, message.timestamp)
    if message.tokens is None or not message.id:
        return ()
    facts, usage = memory.facts, usage_of(message.tokens)
    subagent = facts.session if facts.is_subagent else None
    return (make_call(usage, facts, id=message.id, model=message.model, subagent=subagent),)


_counted: msgspec.json.Decoder[shapes.Prompt | shapes.Request] = msgspec.json.Decoder(
    shapes.Prompt | shapes.Request
)

_FACTS = (b'"sessionId"', b'"summary"', b'"directories"')

TABLE = (
    Row(shapes.Init, init),
    Row(shapes.Message, message),
    Row(shapes.ToolUse, tool_use),
    Row(shapes.ToolResult, tool_result),
    Row(shapes.Error, error),
    Row(shapes.Result, result),
    *(Row(shape, read, "stored") for shape, read in _MESSAGES.items()),
    Row(shapes.Line, facts, "stored"),
    Row(shapes.Prompt, title, "ledger", (b'"user"',)),
    Row(shapes.Request, request, "ledger", (b'"tokens"',)),
    Row(shapes.Line, session, "ledger", (b'"sessionId"', b'"summary"', b'"directories"')),
)

decoder = decoder_of("gemini", stream_of(TABLE), Memory)
"""Returns a decoder for one stream of Gemini CLI."""

STORED = Stored(
    "gemini",
    TABLE,
    SessionMemory,
    facts=SessionFacts,
    begin=begin,
    untagged=shapes.Line,
    time="timestamp",
)
"""Reads stored sessions."""
