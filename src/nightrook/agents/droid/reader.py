"""The table of the lines that Droid writes to its stream and to its stored sessions.

A session has a file of messages, whose parts are read like the messages of the stream, and a
document with its sums, which is all that the ledger can count.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.api_statuses import PASSING, STATUSES
from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.history import Noted, Session, make_call
from nightrook.adapter.reader import Row, decoder_of, stream_of
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.stored import Stored, note_time
from nightrook.adapter.tools import first_of
from nightrook.adapter.usage import reported
from nightrook.agents.droid import shapes, tools
from nightrook.agents.droid.memory import Memory, SessionFacts, SessionMemory
from nightrook.model.events import (
    Error,
    Event,
    Notice,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    Unknown,
    Usage,
    UsageReported,
    UserMessage,
)
from nightrook.model.text import one_line

_SUMS = ".settings.json"
_LONGEST_TITLE = 200
_CONTEXT = "context-"
"""The prefix of the ids of messages that Droid itself adds to a prompt."""

_UPSTREAM = re.compile(r"^Upstream error: (.+)$", re.MULTILINE)
_text = msgspec.json.Decoder(str)
_blocks = msgspec.json.Decoder(list[shapes.Message])
_NO_USAGE = shapes.Usage()
_NOT_PERMITTED = "it stopped at a tool call that was not permitted"
_CUT = "the answer may be cut off: no tokens were counted for it, as after a broken stream"


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read the start of a process."""
    if message.subtype != "init":
        return (Unknown(name=f"system/{message.subtype}", raw=salvage.raw_copy(line)),)
    return memory.enter(
        SessionStarted(
            session=message.session_id,
            model=message.model,
            cwd=message.cwd,
            tools=None if message.tools is None else tuple(message.tools),
        )
    )


def message(memory: Memory, message: shapes.Message, line: bytes) -> Events:
    """Read a text of the model, which is whole, or the prompt."""
    if message.role == "user":
        return [*memory.begin_turn(), UserMessage(text=message.text or "")]
    if message.role != "assistant":
        return (Unknown(name=f"message/{message.role}", raw=salvage.raw_copy(line)),)
    before = [] if memory.in_turn else memory.begin_turn()
    if tools.ends_early(message.text):  # Droid's own words (0.215.0 exec_denied)
        return [*before, Notice(level="warning", text=message.text or "")]
    memory.step(message.id)
    if not message.text:
        return before
    text = Text(id=message.id or memory.new_id("text"), text=message.text)
    return [*before, text] if before else text


def reasoning(memory: Memory, message: shapes.Reasoning, line: bytes) -> Events:
    """Read a thought, which some providers have written twice (0.215.0 thinking)."""
    before = [] if memory.in_turn else memory.begin_turn()
    memory.step(message.id)
    if memory.thought == (message.id, message.text):
        return before
    memory.thought = (message.id, message.text)
    # The text that follows has the same id.
    id = f"{message.id}-thought" if message.id else memory.new_id("thought")
    hidden = None if message.text else True
    thought = Thinking(id=id, text=message.text or None, redacted=hidden)
    return [*before, thought] if before else thought


def tool_call(memory: Memory, message: shapes.ToolCall, line: bytes) -> Events:
    """Read the start of a call."""
    before = [] if memory.in_turn else memory.begin_turn()
    memory.step(message.messageId)
    id, input = message.id or memory.new_id("call"), message.parameters
    if id in memory.tools or id in memory.ended:
        return before
    name = message.toolName or "tool"
    subagent = first_of(input, "subagent_type") if name == tools.SUBAGENT else None
    memory.tools[id] = started = tools.TOOLS.started(id, name, input, subagent=subagent)
    return [*before, started] if before else started


def tool_result(memory: Memory, message: shapes.ToolResult, line: bytes) -> Events:
    """Read the end of a call."""
    id = message.id or memory.new_id("call")
    call, value = memory.tools.get(id), message.value
    failed = message.isError or message.error is not None
    if call is None or not value or failed or not memory.in_turn:
        return _tool_result(memory, id, call, message)
    kind = call.kind  # most are of these two
    if kind == "execute" and (text := tools.plain_output_of(value)) is not None:
        memory.end(id)
        return ToolFinished(
            id=id, status="ok", name=call.name, kind=kind, output=text or None, exit_code=0
        )
    if kind == "edit" and (changed := tools.changed_file(call, value)) is not None:
        memory.end(id)
        return (ToolFinished(id=id, status="ok", name=call.name, kind=kind), changed)
    return _tool_result(memory, id, call, message)


def _tool_result(
    memory: Memory, id: str, call: ToolStarted | None, message: shapes.ToolResult
) -> Sequence[Event]:
    """Read the end of a call that may have failed, or changed something."""
    before = [] if memory.in_turn else memory.begin_turn()
    failed = message.isError is True or message.error is not None
    text = (message.error.message if message.error is not None else message.value) or ""
    text = text.removeprefix("Error: ") if failed else text
    output, code = tools.output_of(text) if call and call.kind == "execute" else (text, None)
    status = tools.status_of(call, text, code, failed=failed)
    if status == "ok" and call is not None:
        if call.kind == "execute":
            events = memory.finish(id, "ok", output=output or None, exit_code=code)
            return [*before, *events] if before else events  # as most are
        changed = [*tools.changes(call, text)]
        # The result of an edit is JSON with nothing that its change doesn't report.
        shown = None if changed and call.kind == "edit" else text
        events = memory.finish(id, "ok", output=shown or None)
        return [*before, *events, *changed, *_subagent(call.kind, id)]
    fix = tools.fix_of(call, text) if status == "denied" else None
    error = None if status == "ok" else output or text or None
    shown = (output or None) if status == "ok" or code is not None else None
    events = memory.finish(id, status, output=shown, error=error, exit_code=code, fix=fix)
    return [*before, *events]


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read an error; the command line's own ends the run, often after one of the agent."""
    before = [] if memory.in_turn else memory.begin_turn()
    if message.source != "cli":
        memory.failure = read_error(message.message)
        return [*before, memory.failure]
    if tools.ends_early(message.message):
        ending = memory.finish_turn("denied", _NOT_PERMITTED, turns=memory.steps or None)
        return [*before, *memory.abandon(), ending]
    events: list[Event] = [*before, *memory.abandon()]
    failure = memory.failure
    if failure is None:
        failure = read_error(message.message)
        events.append(failure)
    return [*events, memory.finish_turn("api_error", failure.message, turns=memory.steps or None)]


def completion(memory: Memory, message: shapes.Completion, line: bytes) -> Sequence[Event]:
    """Read the end of a turn, with the tokens of the process."""
    return _finish(memory, message.finalText, message.durationMs, message.usage)


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the whole of a run that was asked for one message."""
    events = [*memory.enter(SessionStarted(session=message.session_id)), *memory.begin_turn()]
    if message.is_error is False and message.subtype != "failure":
        return [*events, *_finish(memory, message.result, message.duration_ms, message.usage)]
    failure = read_error(message.result)
    return [*events, failure, memory.finish_turn("api_error", failure.message)]


def _finish(
    memory: Memory, text: str | None, milliseconds: float | None, usage: shapes.Usage | None
) -> Sequence[Event]:
    """End a turn.

    When the model's stream breaks off, Droid reports half an answer as a whole one. All that shows
    it are the tokens: that request has none (0.215.0 mid_stream_cut).
    """
    events = [*memory.begin_turn(), *memory.abandon()]
    used = usage or _NO_USAGE
    is_counted = bool(used.input_tokens or used.output_tokens)  # zeros stand for not counted
    if is_counted:
        events.append(reported(usage_of(used), scope="turn"))
    reason = None
    if memory.failure is not None:  # no message of the model followed it
        reason, text = "api_error", memory.failure.message
    elif not is_counted and text:
        reason, text = "cut", _CUT
    ending = memory.finish_turn(
        reason,
        text,
        duration_s=None if milliseconds is None else milliseconds / 1000,
        turns=memory.steps or None,
    )
    return [*events, ending]


def usage_of(used: shapes.Usage | shapes.Sum) -> Usage:
    """The tokens of a turn or of a session; its input excludes the cached ones."""
    if isinstance(used, shapes.Sum):
        return Usage(
            input=used.inputTokens,
            output=used.outputTokens,
            cache_read=used.cacheReadTokens,
            cache_write_5m=used.cacheCreationTokens,
            reasoning=used.thinkingTokens,
        )
    return Usage(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens,
        cache_write_5m=used.cache_creation_input_tokens,
        reasoning=used.thinking_tokens,
    )


def _subagent(kind: str, id: str) -> Sequence[Event]:
    """The usage of a subagent: it has a session of its own, which no message reports."""
    if kind != "subagent":
        return ()
    return (UsageReported(message_id=id, scope="session", semantics="final", parent=id),)


# Errors


_STATUS = re.compile(r"(\d{3}) (.+)", re.DOTALL)  # the API's status and message
_NOT_LOGGED_IN = "Authentication failed."


def read_error(text: str | None) -> Error:
    """Read an error, which is only text."""
    message = (text or "").removeprefix("Error: ") or None
    if message is not None and message.startswith(_NOT_LOGGED_IN):
        return Error(kind="auth", message=message, retryable=False)
    match = _STATUS.fullmatch(message or "")
    if match is None:
        return Error(kind="internal", message=message)
    kind = STATUSES.get(int(match[1]), "internal")
    return Error(
        kind=kind,
        message=match[2],
        retryable=kind in PASSING,
        needs_payment=True if match[1] == "402" else None,
    )


# Stored sessions, as events


def session_start(memory: SessionMemory, line: shapes.SessionStart, raw: bytes) -> Events:
    """Read the first line of a session."""
    return memory.enter(SessionStarted(session=line.id, cwd=line.cwd))


def stored_message(memory: SessionMemory, line: shapes.StoredMessage, raw: bytes) -> Events:
    """Read a message of several parts."""
    note_time(memory, line.timestamp)
    content = line.message or shapes.Content()
    if content.role not in ("user", "assistant"):
        return Unknown(name=f"message/{content.role}", raw=salvage.raw_copy(raw))
    events: list[Event] = []
    for part in content.content or ():
        events += as_sequence(_part(memory, line.id, content, part, raw))
    return events


def _part(
    memory: SessionMemory, id: str | None, content: shapes.Content, part: shapes.Part, raw: bytes
) -> Events:
    match part.type:
        case "text" if content.role == "user":
            return _prompt(memory, id, content, part.text or "")
        case "text":
            memory.said = part.text or memory.said
            said = shapes.Message(role="assistant", id=id, text=part.text)
            return message(memory, said, raw)
        case "thinking" | "redacted_thinking":
            return reasoning(memory, shapes.Reasoning(id=id, text=part.thinking), raw)
        case "tool_use":
            call = shapes.ToolCall(
                id=part.id, messageId=id, toolName=part.name, parameters=part.input
            )
            return tool_call(memory, call, raw)
        case "tool_result":
            ended = shapes.ToolResult(
                id=part.tool_use_id, isError=part.is_error, value=_output(part.content)
            )
            return tool_result(memory, ended, raw)
        case "image" | "document":
            return ()
        case _:
            return Unknown(name=f"message/{part.type}", raw=salvage.raw_copy(raw))


def _prompt(memory: SessionMemory, id: str | None, content: shapes.Content, text: str) -> Events:
    """Read a prompt, text that Droid adds to one, or an error that only the user sees."""
    if content.visibility == "user_only":
        reason = _UPSTREAM.search(text)
        memory.failure = read_error(reason[1] if reason else text)
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


def outcome(memory: SessionMemory, line: shapes.Outcome, raw: bytes) -> Sequence[Event]:
    """Read the end of a turn."""
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


# Stored sessions, as the ledger reads them


def begin(parts: Sequence[str]) -> SessionFacts:
    """Return the facts of a file by its name: its session, and whether it has the sums."""
    name = parts[-1] if parts else ""
    session = name.removesuffix(_SUMS).removesuffix(".jsonl")
    return SessionFacts(session=session or "unknown", has_sums=name.endswith(_SUMS))


def counted(memory: SessionMemory, line: shapes.Counted, raw: bytes) -> Sequence[Noted]:
    """Read the time of a line, for the sum of its session, or the document with the sum."""
    session = memory.facts.session
    if memory.facts.has_sums:
        return [*_sums(memory.facts, line)]
    at = seconds_since_1970(line.timestamp)
    if line.type == "session_start":
        title = one_line(line.title or "", _LONGEST_TITLE) or None
        return (Session(id=session, at=at, project=line.cwd or None, title=title),)
    return () if at is None else (Session(id=session, at=at),)


def _sums(facts: SessionFacts, document: shapes.Counted) -> Iterator[Noted]:
    """Read the sum of a session without the sessions of its subagents, which have their own."""
    for child in document.childInclusiveTokenUsageBySessionId or ():
        if child and child != facts.session:
            yield Session(id=child, parent=facts.session)
    tokens = document.tokenUsage
    if tokens is not None and tokens != shapes.Sum():
        usage, model = usage_of(tokens), document.model
        yield make_call(usage, facts, id=facts.session, model=model, summed=True)


TABLE = (
    Row(shapes.System, system),
    Row(shapes.Message, message),
    Row(shapes.Reasoning, reasoning),
    Row(shapes.ToolCall, tool_call),
    Row(shapes.ToolResult, tool_result),
    Row(shapes.Error, error),
    Row(shapes.Completion, completion),
    Row(shapes.Result, result),
    Row(shapes.SessionStart, session_start, "stored"),
    Row(shapes.StoredMessage, stored_message, "stored"),
    Row(shapes.Outcome, outcome, "stored"),
    Row(shapes.Counted, counted, "ledger", (b'"session_start"', b'"timestamp"')),
)

decoder = decoder_of("droid", stream_of(TABLE), Memory)
"""Returns a decoder for one stream of Droid."""

STORED = Stored(
    "droid", TABLE, SessionMemory, facts=SessionFacts, begin=begin, untagged=shapes.Counted
)
"""Reads stored sessions."""
