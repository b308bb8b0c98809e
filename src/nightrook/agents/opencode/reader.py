"""The table of the lines that OpenCode and Kilo CLI write, and the rows that the ledger reads.

    stream ─────────────────────────▶ line ─▶ its function in the table ─▶ events
    store ── LINES of a session ────▶ line ─▶ the same function ─────────▶ events
    store ── STEPS of a session ────▶ row ───▶ `read_steps` ──────────────▶ calls
    documents (before 1.2) ─────────▶ `read_document` ────────────────────▶ calls

Every message is a complete part: there are no pieces, and a tool call comes with its result. So
its start and end are made here and not by `Memory.start` and `Memory.finish`, which keep track of
open calls.

The ledger does not read the parts, which are most of a store, but their steps alone: they have the
tokens. Steps have no id that a fork keeps, so their times and tokens identify them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.history import Call, Facts, Finding, Noted, Session, make_call
from nightrook.adapter.reader import Read, Row, decoder_of, silent_types, stream_of
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.stored import Stored
from nightrook.adapter.usage import reported
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.agents.opencode import errors, shapes, tools
from nightrook.agents.opencode.memory import Memory, SessionMemory
from nightrook.model.events import (
    ContextCompacted,
    Event,
    PermissionDenied,
    Retrying,
    SessionStarted,
    Status,
    TaskFinished,
    TaskStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageReported,
    UserMessage,
)
from nightrook.model.permissions import PERMIT_ALL
from nightrook.model.price import credible

# The errors of refused calls; nothing else marks them (permission_ask_rejected,
# permission_denied_rule).
_REJECTED = "The user rejected permission to use this specific tool call"
_FORBIDDEN = "The user has specified a rule which prevents you from using this specific tool call."
_ABORTED = "Tool execution aborted"
_TOOK_TOO_LONG = "shell tool terminated command after exceeding timeout"


def step_start(memory: Memory, message: shapes.StepStart, line: bytes) -> Events:
    """Read the start of a request to the model, or of a retry."""
    if message.sessionID != memory.session:
        return _enter(step_start, memory, message, line)
    part = message.part
    # A request that broke off is repeated with the same message id (case sse_error_event).
    if memory.is_new(part.id) and memory.begin_step(part.messageID):
        return Retrying(attempt=memory.retries)
    return ()


def text(memory: Memory, message: shapes.Text, line: bytes) -> Events:
    """Read a text of the model, or the agent's text for the model after a compaction."""
    if message.sessionID != memory.session:
        return _enter(text, memory, message, line)
    part = message.part
    if not part.text or not memory.is_new(part.id):
        return ()
    if not part.synthetic:
        memory.texts.append(part.text)
        return Text(id=part.id or memory.new_id("text"), text=part.text)
    prompt = UserMessage(text=part.text, synthetic=True)
    if not part.metadata.compaction_continue:
        return prompt
    # The summary came as an ordinary step that stopped (case compaction).
    memory.stopped = None
    return (ContextCompacted(trigger="auto"), prompt)


def reasoning(memory: Memory, message: shapes.Reasoning, line: bytes) -> Events:
    """Read a thought; its text is empty if the provider hides it."""
    if message.sessionID != memory.session:
        return _enter(reasoning, memory, message, line)
    part = message.part
    if not memory.is_new(part.id):
        return ()
    hidden = None if part.text else True
    return Thinking(id=part.id or memory.new_id("thought"), text=part.text or None, redacted=hidden)


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read a finished tool call; its start was not reported."""
    if message.sessionID != memory.session:
        return _enter(tool_use, memory, message, line)
    part = message.part
    state = part.state
    # Some providers number the calls of each request from 0, so `callID` is not unique.
    if not memory.is_new(part.id):
        return ()
    id = part.id or memory.new_id("call")
    forbidden = tools.forbidden_tool(part.tool, state)
    name = forbidden or part.tool or "tool"
    kind = memory.kinds.get(name, "other")
    title = tools.title(kind, state)
    input = salvage.raw_copy(state.input)
    started = ToolStarted(id=id, name=name, kind=kind, title=title, input=input)
    status = "denied" if forbidden else _status(name, state)
    code = state.metadata.exit
    finished = ToolFinished(
        id=id,
        status=status,
        name=name,
        kind=kind,
        output=tools.report(state.output) if kind == "subagent" else state.output,
        error=None if status == "ok" else _error(state),
        exit_code=code if isinstance(code, int) else None,
    )
    if status == "denied":
        return (started, _denial(memory, started, _error(state) or ""), finished)
    if status == "ok" and kind in tools.CHANGING:
        return (started, finished, *tools.changes(name, id, state))
    if kind == "subagent" and state.metadata.sessionId is not None:
        return (started, finished, _not_reported(id, state.metadata.sessionId))
    return (started, finished)


def step_finish(memory: Memory, message: shapes.StepFinish, line: bytes) -> Events:
    """Read the end of a request to the model, with its tokens and cost."""
    if message.sessionID != memory.session:
        return _enter(step_finish, memory, message, line)
    part = message.part
    if not memory.is_new(part.id):
        return ()
    memory.stopped = part.reason or "unknown"
    memory.totals.steps += 1
    if part.tokens.total is None:  # the provider reported none, which is written as zeros
        return ()
    used = reported(
        usage_of(part.tokens),
        message_id=part.messageID,
        stop_reason=part.reason,
        cost_usd=_cost(part.cost),
    )
    memory.totals.add(used)
    return used


def error(memory: Memory, message: shapes.Error, line: bytes) -> Events:
    """Read an error; a step that follows shows that the agent recovered from it."""
    if message.sessionID != memory.session:
        return _enter(error, memory, message, line)
    memory.failure, memory.reason = errors.read(message.error)
    return memory.failure


def _enter(read: Read[Memory], memory: Memory, message: Any, line: bytes) -> Events:
    """Read a message of another session than the last, which may be new."""
    return [*memory.enter(message.sessionID), *as_sequence(read(memory, message, line))]


def _denial(memory: Memory, started: ToolStarted, reason: str) -> PermissionDenied:
    """A call that was not permitted.

    The refused permission may be for the tool, a folder or a repeated call: no message says which,
    so no rule can be suggested. A call that needed approval is allowed by the permission `all`.
    """
    rejected = reason.startswith(_REJECTED)
    memory.rejected = memory.rejected or rejected
    return PermissionDenied(
        tool_id=started.id,
        name=started.name,
        input=started.input,
        reason=reason,
        fix=PERMIT_ALL if rejected else None,  # it does not override a rule that forbids a call
    )


def _status(name: str, state: shapes.ToolState) -> Status:
    """Return the status of a call: a command that failed is `completed` (case bash_fail)."""
    metadata = state.metadata
    if state.status != "completed":
        error = state.error or ""
        if error.startswith((_REJECTED, _FORBIDDEN)):
            return "denied"
        return "cancelled" if metadata.interrupted or error == _ABORTED else "error"
    if metadata.exit is None:  # the command was stopped (case bash_timeout)
        note = tools.note(state.output) or ""
        return "timed_out" if note.startswith(_TOOK_TOO_LONG) else "cancelled"
    # A call that no tool accepts is answered by the tool `invalid` (case bad_tool_args).
    failed = name == "invalid" or (isinstance(metadata.exit, int) and metadata.exit != 0)
    return "error" if failed else "ok"


def _error(state: shapes.ToolState) -> str | None:
    """The error message of a failed call: its error, why its command was stopped, or its output."""
    return state.error or tools.note(state.output) or state.output


def _not_reported(call: str, session: str) -> UsageReported:
    """The usage of a subagent: it has a session of its own, which no message reports."""
    return UsageReported(message_id=session, scope="session", semantics="final", parent=call)


def usage_of(tokens: shapes.Tokens) -> Usage:
    """The tokens of a step or message; reasoning is counted separately from its output there."""
    output = tokens.output
    if output is not None:
        output += tokens.reasoning or 0
    return Usage(
        input=tokens.input,
        output=output,
        cache_read=tokens.cache.read,
        cache_write_5m=tokens.cache.write,
        reasoning=tokens.reasoning,
    )


def _cost(usd: float | None) -> float | None:
    """Return the cost; 0 stands for a free model and for one without a configured price."""
    return credible(usd) or None


# Stored sessions: the lines that their query makes


def session(memory: SessionMemory, message: shapes.Session, line: bytes) -> Events:
    """Read the first line; the first turn opens with the first message."""
    memory.sessions.add(message.sessionID)
    return SessionStarted(session=message.sessionID, cwd=message.directory, version=message.version)


def prompt(memory: SessionMemory, message: shapes.Prompt, line: bytes) -> Sequence[Event]:
    """Read a prompt: the user's own begins another turn."""
    text = message.part.text
    if not text:
        return ()
    if message.part.synthetic:
        return (UserMessage(text=text, synthetic=True),)
    return [*memory.settle_turn(), *memory.begin_turn(), UserMessage(text=text)]


def subagent_or_tool(memory: SessionMemory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read a call; a subagent has a session of its own, which is its task."""
    events = as_sequence(tool_use(memory, message, line))
    session = message.part.state.metadata.sessionId
    if session is None or not events:
        return events
    started = TaskStarted(id=session, kind="subagent", tool_id=message.part.id)
    ended = TaskFinished(id=session, kind="subagent", tool_id=message.part.id, status="ok")
    return [events[0], started, ended, *events[1:]]


_SILENT = silent_types(("snapshot", "patch", "file", "agent", "retry", "compaction", "subtask"))
_timed = msgspec.json.Decoder(shapes.Timed)


def _time_of(line: bytes) -> int | None:
    with suppress(ValueError, RecursionError):  # otherwise it has the time of the line before
        return _timed.decode(line).timestamp
    return None


# Calls of the ledger: steps in the store, and documents of versions before 1.2


_answer = msgspec.json.Decoder(shapes.Answer)
_step = msgspec.json.Decoder(shapes.StepFinishPart)
_HEX = re.compile(r"[0-9a-f]{12}")
_HALF = 2**35
"""Half the range of the milliseconds with which an id begins, before a counter of 12 bits."""

_CLOCK_MS = 1000
"""The longest delay between a message's time and its id."""


def read_steps(
    rows: Sequence[tuple[Any, ...]], *, messages_have_costs: bool = True
) -> list[Finding]:
    """Read the rows of a session: its facts, and a call for each step.

    A message without steps counts itself; `messages_have_costs` says whether its cost is its own.
    """
    found = _session(rows[0]) if rows else None
    if found is None:
        return []
    findings: list[Finding] = [found]
    facts = Facts(session=found.id, project=found.project)
    equal: Counter[str] = Counter()
    for message_id, of_message in groupby(rows, key=itemgetter(6)):
        steps = list(of_message)
        message = salvage.decode_part(_bytes(steps[0][7]), _answer)
        if message is None or message.role not in (None, "assistant"):
            continue
        message.id = _text(message_id)
        if not messages_have_costs:
            message.cost = None
        facts.subagent = (message.agent or message.mode or "subagent") if found.parent else None
        facts.at = seconds_since_1970(message.time.created)
        for counted in _counted(message, [_bytes(row[8]) for row in steps]):
            id = _identity(message, counted)
            equal[id] += 1
            findings.append(_call(message, counted, facts, id=f"{id} {equal[id]}"))
    return findings


def _session(row: tuple[Any, ...]) -> Session | None:
    id, parent, folder, title, updated, forked_from = row[:6]
    if not _text(id):
        return None
    return Session(
        id=str(id),
        at=seconds_since_1970(updated),
        project=_text(folder),
        title=_text(title),
        parent=_text(parent),
        forked_from=_text(forked_from),
    )


def _counted(
    message: shapes.Answer, parts: Sequence[bytes]
) -> Iterator[shapes.Answer | shapes.StepFinishPart]:
    """The steps of a message, or the message itself if it has none."""
    read = (salvage.decode_part(part, _step) for part in parts if part)
    steps = [step for step in read if step is not None and step.type == "step-finish"]
    yield from steps
    if not steps and (any(_counts(message.tokens)) or _cost(message.cost)):
        yield message


def _call(
    message: shapes.Answer,
    counted: shapes.Answer | shapes.StepFinishPart,
    facts: Facts,
    *,
    id: str,
    fallback: bool = False,
) -> Call:
    return make_call(
        usage_of(counted.tokens),
        facts,
        id=id,
        model=_model(message),
        cost_usd=_cost(counted.cost),
        copied=_is_copied(message),
        fallback=fallback,
    )


def _identity(message: shapes.Answer, counted: shapes.Answer | shapes.StepFinishPart) -> str:
    """Return the id of a step, or of a message without any.

    A fork has copies of messages under new ids. Their times, models and tokens stay as they were.
    When a message was completed does not count: it is not known from the start.
    """
    created = message.time.created
    provider = message.providerID or (message.model.providerID if message.model else None)
    start = int(created) if created else message.id
    return " ".join(map(str, (start, provider, _model(message), *_counts(counted.tokens))))


def _counts(tokens: shapes.Tokens) -> tuple[int, ...]:
    cache = tokens.cache
    counts = (tokens.input, tokens.output, tokens.reasoning, cache.read, cache.write)
    return tuple(count or 0 for count in counts)


def _model(message: shapes.Answer) -> str | None:
    """The model without its provider."""
    return message.modelID or (message.model.id if message.model else None) or None


def _is_copied(message: shapes.Answer) -> bool:
    """True if a message got its id after it was completed: a fork gives new ids to its copies."""
    digits = (message.id or "").rpartition("_")[2][:12]
    times = (message.time.completed, message.time.created and message.time.created + _CLOCK_MS)
    last = next(filter(None, times), None)
    if last is None or not _HEX.fullmatch(digits):
        return False
    later = ((int(digits, 16) >> 12) - int(last)) % (2 * _HALF)
    return 0 < later < _HALF


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _bytes(value: object) -> bytes:
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""


def begin(parts: Sequence[str]) -> Facts:
    """Return the facts by the path of a message: `message/<session>/<message>.json`."""
    return Facts(session=parts[-2] if len(parts) > 1 else "unknown")


def document(memory: SessionMemory, message: shapes.Document, line: bytes) -> Sequence[Noted]:
    """Read the document of a session, or that of an answer, which has the tokens of its last step.

    The store of later versions has every step of the same sessions, so an answer counts only if
    its session is not there.
    """
    if message.role is None and message.id:
        session = Session(
            id=message.id,
            at=seconds_since_1970(message.time.updated),
            project=message.directory or None,
            title=message.title or None,
            version=message.version or None,
            parent=message.parentID or None,
        )
        return (session,)
    if message.role != "assistant" or not any(_counts(message.tokens)):
        return ()
    facts = memory.facts
    facts.session = message.sessionID or facts.session
    facts.project = message.path.cwd
    facts.at = seconds_since_1970(message.time.created)
    id = f"document {_identity(message, message)}"
    return (_call(message, message, facts, id=id, fallback=True),)


TABLE = (
    Row(shapes.StepStart, step_start, "both"),
    Row(shapes.Text, text, "both"),
    Row(shapes.Reasoning, reasoning, "both"),
    Row(shapes.ToolUse, tool_use, "stream"),
    Row(shapes.ToolUse, subagent_or_tool, "stored"),
    Row(shapes.StepFinish, step_finish, "both"),
    Row(shapes.Error, error, "both"),
    Row(shapes.Session, session, "stored"),
    Row(shapes.Prompt, prompt, "stored"),
    Row(shapes.Document, document, "ledger"),
)


def _stored(agent: str, memory: Callable[[], SessionMemory]) -> Stored:
    return Stored(
        agent,
        TABLE,
        memory,
        begin=begin,
        silent=_SILENT,
        untagged=shapes.Document,
        time_of=_time_of,
    )


_KNOWN, _KNOWN_KILO = KNOWN_FIELDS["opencode"], KNOWN_FIELDS["kilo"]

decoder = decoder_of("opencode", stream_of(TABLE), partial(Memory, _KNOWN))
"""Returns a decoder for one stream of OpenCode."""

kilo_decoder = decoder_of("kilo", stream_of(TABLE), partial(Memory, _KNOWN_KILO, tools.KILO_KINDS))
"""Returns a decoder for one stream of Kilo CLI."""

STORED = _stored("opencode", partial(SessionMemory, _KNOWN))
"""Reads the stored sessions of OpenCode."""

KILO_STORED = _stored("kilo", partial(SessionMemory, _KNOWN_KILO, tools.KILO_KINDS))
"""Reads the stored sessions of Kilo CLI."""
