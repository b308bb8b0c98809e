"""The table of the lines that GitHub Copilot CLI writes to its stream and to its stored sessions.

A stored session has the messages of the stream and, besides, the facts of the session and the
tokens of each request. It has no result: a turn ends with the answer that the next prompt or the
end follows.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import astuple

from nightrook.adapter.api_statuses import PASSING, STATUSES
from nightrook.adapter.decoder import Events, as_sequence
from nightrook.adapter.history import Noted, Session, call_id, make_call
from nightrook.adapter.memory import orphaned
from nightrook.adapter.reader import Row, decoder_of, no_events, silent_types, stream_of
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.stored import Stored, note_time
from nightrook.adapter.usage import reported, uncached
from nightrook.agents.copilot import shapes, tools
from nightrook.agents.copilot.memory import Memory, SessionFacts, SessionMemory
from nightrook.agents.copilot.paths import session_of
from nightrook.model.events import (
    ContextCompacted,
    Error,
    ErrorKind,
    Event,
    HookFinished,
    HookStarted,
    McpServer,
    ModeChanged,
    ModelChanged,
    Notice,
    Retrying,
    SessionStarted,
    Status,
    TaskFinished,
    TaskStarted,
    TaskUsage,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolInputDelta,
    ToolProgress,
    ToolStarted,
    Usage,
    UserMessage,
)
from nightrook.model.text import one_line

_LONGEST_TITLE = 200
_TIMESTAMP = re.compile(rb'"timestamp":"([^"\\]{1,40})"')
_ENVELOPE = 1000  # bytes at the end of a line, where the fields beside its data are
_DENIED = frozenset({"denied", "rejected"})
_PLANNING = "Plan mode does not permit changes"  # 1.0.102 plan
_TOLD_ELSEWHERE = frozenset({"model_retry", "cancellation", "file_created", "file_changed"})


def tools_updated(memory: Memory, message: shapes.ToolsUpdated, line: bytes) -> Events:
    """Read the model; the session is named only by the result."""
    memory.model = message.data.model or memory.model
    return ()


def servers_loaded(memory: Memory, message: shapes.ServersLoaded, line: bytes) -> Events:
    """Read the MCP servers that are in use."""
    memory.servers = tuple(
        McpServer(name=server.name, status=server.status)
        for server in message.data.servers or ()
        if server.name and server.status != "disabled"
    )
    return ()


def user(memory: Memory, message: shapes.UserMessage, line: bytes) -> Events:
    """Read a prompt: the user's, that of a subagent, or one with which autopilot continues."""
    data, parent = message.data, memory.parent(message.agent_id, None)
    events = _begin(memory)
    if not data.content:
        return events
    synthetic = True if data.source and parent is None else None
    return [*events, UserMessage(text=data.content, synthetic=synthetic, parent=parent)]


def delta(memory: Memory, message: shapes.MessageDelta, line: bytes) -> Events:
    """Read a piece of a text."""
    data = message.data
    id, piece = data.message_id, data.delta_content
    if not piece or id is None:
        return ()
    if id == memory.partial_id:
        memory.pieces.append(piece)
        return TextDelta(id=id, text=piece)
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    if parent is not None:
        return TextDelta(id=id, text=piece, parent=parent)
    return memory.add_delta(id, piece)


def said(memory: Memory, message: shapes.AssistantMessage, line: bytes) -> Events:
    """Read a whole message; its calls are reported when they start."""
    data = message.data
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    events, id = _begin(memory), data.message_id or memory.new_id("message")
    if data.reasoning_text and not memory.has_thought:
        events.append(Thinking(id=f"{id}:thought", text=data.reasoning_text, parent=parent))
    memory.has_thought = False
    memory.model = memory.model or data.model
    if parent is None:
        memory.drop_partial()
        memory.answer, memory.failure = data.content or None, None
    if data.content:
        events.append(Text(id=id, text=data.content, parent=parent))
    return events


def thought_delta(memory: Memory, message: shapes.ReasoningDelta, line: bytes) -> Events:
    """Read a piece of a thought."""
    data = message.data
    if not data.delta_content or data.reasoning_id is None:
        return ()
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    memory.thought, memory.has_thought = data.reasoning_id, True
    return ThinkingDelta(id=data.reasoning_id, text=data.delta_content, parent=parent)


def thought(memory: Memory, message: shapes.Reasoning, line: bytes) -> Events:
    """Read a whole thought, which its message repeats."""
    data = message.data
    if data.reasoning_id is None or data.reasoning_id != memory.thought:
        memory.has_thought = True  # one in pieces may be whole only after its message
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    id = data.reasoning_id or memory.new_id("thought")
    hidden = None if data.content else True
    return [
        *_begin(memory),
        Thinking(id=id, text=data.content or None, redacted=hidden, parent=parent),
    ]


def call_delta(memory: Memory, message: shapes.CallDelta, line: bytes) -> Events:
    """Read a piece of the input of a call that the model still writes."""
    data = message.data
    if data.tool_call_id is None or memory.has_started(data.tool_call_id):
        return ()
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    piece = data.input_delta or ""
    return ToolInputDelta(id=data.tool_call_id, json=piece, name=data.tool_name, parent=parent)


def tool_start(memory: Memory, message: shapes.ToolStart, line: bytes) -> Events:
    """Read the start of a call."""
    data = message.data
    id, name = data.tool_call_id or memory.new_id("call"), data.tool_name or "tool"
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    kind = "other" if data.mcp_server_name else tools.TOOLS.kind(name)
    started = ToolStarted(
        id=id,
        name=name,
        kind=kind,
        title=tools.TOOLS.title(kind, data.arguments),
        input=raw_copy(data.arguments),
        server=data.mcp_server_name,
        tool=data.mcp_tool_name,
        subagent=tools.subagent(name, data.arguments),
        parent=parent,
    )
    if parent is None:
        memory.answer = None
    return [*_begin(memory), *memory.start(started)]


def shell_output(memory: Memory, message: shapes.ShellOutput, line: bytes) -> Events:
    """Read a piece of what a command writes."""
    data = message.data
    if data.tool_call_id not in memory.tools:
        return ()
    return ToolProgress(id=data.tool_call_id, output=data.text or data.progress_message)


def tool_complete(memory: Memory, message: shapes.ToolComplete, line: bytes) -> Events:
    """Read the end of a call: a command that failed is a success with an exit code."""
    data = message.data
    id = data.tool_call_id or memory.new_id("call")
    started, failed = memory.tools.get(id), data.error or shapes.ToolError()
    parent = memory.parent(message.agent_id, data.parent_tool_call_id)
    code = data.shell_execution.exit_code if data.shell_execution else None
    output = (data.result.content if data.result else None) or None
    status = _status(data, failed, code)
    planning = _PLANNING in (failed.message or "")
    events = memory.finish(
        id,
        status,
        output=output,
        error=None if status == "ok" else failed.message or output,
        exit_code=code,
        fix=tools.rule(started) if status == "denied" and not planning else None,
        parent=parent,
    )
    if status == "ok" and data.file_edits:
        events += tools.changes(id, data)
    return events


def _status(data: shapes.Completion, error: shapes.ToolError, code: int | None) -> Status:
    if error.code in _DENIED:
        return "denied"
    return "ok" if data.success and not code else "error"


def subagent_started(memory: Memory, message: shapes.SubagentStarted, line: bytes) -> Events:
    """Read the start of a subagent; its messages have its id."""
    data, id = message.data, message.agent_id
    if id is None or id in memory.tasks:
        return ()
    if data.tool_call_id is not None:
        memory.add_subagent(id, data.tool_call_id)
    started = TaskStarted(
        id=id,
        kind="subagent",
        title=data.agent_description or data.agent_display_name,
        tool_id=data.tool_call_id,
        background=True if data.execution_mode == "background" else None,
    )
    memory.tasks[id] = started
    return [*_begin(memory), started]


def subagent_ended(
    memory: Memory, message: shapes.SubagentCompleted | shapes.SubagentFailed, line: bytes
) -> Events:
    """Read the end of a subagent, with its tokens: the input and the output together."""
    data = message.data
    started = memory.tasks.pop(message.agent_id or "", None)
    if started is None:
        return ()
    seconds = None if data.duration_ms is None else data.duration_ms / 1000
    return TaskFinished(
        id=started.id,
        status="error" if isinstance(message, shapes.SubagentFailed) else "ok",
        kind=started.kind,
        title=started.title,
        tool_id=started.tool_id,
        summary=data.error,
        usage=TaskUsage(
            tokens=data.total_tokens, tool_uses=data.total_tool_calls, duration_s=seconds
        ),
    )


def call_failure(memory: Memory, message: shapes.CallFailure, line: bytes) -> Events:
    """Read the failure of a request; another message says whether it is repeated."""
    memory.status, memory.attempt = message.data.status_code, message.data.retry_attempt
    return ()


def retry(memory: Memory, message: shapes.TurnRetry, line: bytes) -> Events:
    """Read a retry of a request; the text that broke off is dropped."""
    if message.agent_id is None:
        memory.drop_partial()
    attempt = None if memory.attempt is None else memory.attempt + 1
    return Retrying(attempt=attempt, status=memory.status, reason=message.data.reason)


def usage(memory: Memory, message: shapes.Usage, line: bytes) -> Events:
    """Read the tokens of a request; its `cost` is a multiplier of premium requests, not money."""
    data = message.data
    return reported(
        usage_of(data),
        message_id=data.api_call_id,
        model=data.model,
        stop_reason=data.finish_reason,
        parent=memory.parent(message.agent_id, data.parent_tool_call_id),
    )


def usage_of(used: shapes.Tokens) -> Usage:
    """The tokens of a request, or of all requests of a process; the input has the cached ones."""
    read, written = used.cache_read_tokens, used.cache_write_tokens
    return Usage(
        input=uncached(used.input_tokens, read, written),
        output=used.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=used.reasoning_tokens,
    )


def error(memory: Memory, message: shapes.SessionError, line: bytes) -> Events:
    """Read the error that ends the turn."""
    events = _begin(memory)
    memory.failure = read_error(message.data)
    return [*events, memory.failure]


def info(memory: Memory, message: shapes.Info, line: bytes) -> Events:
    """Read a message to the user, unless other messages report the same."""
    data = message.data
    if not data.message or data.info_type in _TOLD_ELSEWHERE:
        return ()
    return Notice(level="info", text=data.message)


def warning(memory: Memory, message: shapes.Warning, line: bytes) -> Events:
    """Read a warning."""
    return Notice(level="warning", text=message.data.message or "")


def compacted(memory: Memory, message: shapes.CompactionComplete, line: bytes) -> Events:
    """Read the end of a compaction."""
    data = message.data
    if data.success is False:
        return ()
    return ContextCompacted(
        before_tokens=data.pre_compaction_tokens, after_tokens=data.post_compaction_tokens
    )


def model_change(memory: Memory, message: shapes.ModelChange, line: bytes) -> Events:
    """Read a change of the model."""
    data = message.data
    memory.model = data.new_model or memory.model
    return ModelChanged(before=data.previous_model, after=data.new_model, reason=data.cause)


def mode(memory: Memory, message: shapes.ModeChanged | shapes.ModeNotice, line: bytes) -> Events:
    """Read the mode that it works in."""
    named = message.data.new_mode or message.data.mode
    return ModeChanged(mode=named) if named else ()


def hook_start(memory: Memory, message: shapes.HookStart, line: bytes) -> Events:
    """Read the start of a hook of the user's."""
    data = message.data
    return HookStarted(id=data.hook_invocation_id or memory.new_id("hook"), hook=data.hook_type)


def hook_end(memory: Memory, message: shapes.HookEnd, line: bytes) -> Events:
    """Read the end of a hook of the user's."""
    data = message.data
    id = data.hook_invocation_id or memory.new_id("hook")
    return HookFinished(id=id, hook=data.hook_type, ok=data.success)


def autopilot(memory: Memory, message: shapes.AutopilotStopped, line: bytes) -> Events:
    """Read the end of autopilot: at its limit, or because its work is done."""
    memory.stopped = message.data.reason
    return ()


def abort(memory: Memory, message: shapes.Abort, line: bytes) -> Events:
    """Read the end of a turn that was interrupted; no result follows (1.0.102 sigint_text)."""
    events = [*_begin(memory), *memory.abandon()]
    memory.aborted = True
    return [*events, memory.finish_turn("interrupted", None)]


def idle(memory: Memory, message: shapes.Idle, line: bytes) -> Events:
    """Read the idle state, which is the only sign of an interrupted call (sigterm_tool)."""
    if not message.data.aborted or not memory.in_turn:
        return ()
    memory.aborted = True
    return [*memory.abandon(), memory.finish_turn("interrupted", None)]


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a run, which names its session."""
    events: list[Event] = []
    if message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        events.append(_session(memory, message.session_id))
    if memory.aborted and not memory.in_turn:
        return events
    events += [*memory.begin_turn(), *memory.end_text()]
    for id in [*memory.tools]:
        events += memory.finish(id, "orphaned")
    events += map(orphaned, memory.tasks.values())
    memory.tasks.clear()
    reason, text = memory.ending(message.exit_code)
    if reason is None and message.exit_code is None:
        reason, text = "error", "copilot reports no exit code"
    used = message.usage or shapes.Durations()
    finished = memory.finish_turn(reason, text, duration_s=_seconds(used.session_duration_ms))
    return [*events, finished]


def _begin(memory: Memory) -> list[Event]:
    """Open a turn, unless one is open; the first one opens the session."""
    if memory.in_turn:
        return []
    if memory.sessions or memory.results:
        return memory.begin_turn()
    memory.sessions.add(None)
    return [_session(memory, None), *memory.begin_turn()]


def _session(memory: Memory, id: str | None) -> SessionStarted:
    return SessionStarted(session=id, model=memory.model, mcp_servers=memory.servers or None)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


# Errors


_TYPES: Mapping[str | None, ErrorKind] = {
    "authentication": "auth",
    "authorization": "auth",
    "policy": "policy",
    "quota": "quota",
    "rate_limit": "rate",
    "context_limit": "context",
}


def read_error(error: shapes.ErrorData) -> Error:
    """Read the error that ends a run."""
    kind = _TYPES.get(error.error_type) or STATUSES.get(error.status_code or 0, "internal")
    return Error(
        kind=kind,
        message=error.message,
        retryable=kind in PASSING,
        needs_payment=True if error.status_code == 402 else None,
    )


# Stored sessions, as events


def session_start(
    memory: SessionMemory, message: shapes.SessionStart | shapes.SessionResume, line: bytes
) -> Events:
    """Read the facts of the session."""
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


def stored_user(memory: SessionMemory, message: shapes.UserMessage, line: bytes) -> Events:
    """Read a prompt: the user's own begins another turn."""
    ended: list[Event] = []
    if message.agent_id is None and not message.data.source:
        ended = memory.settle_turn()
        memory.in_turn = False
    return [*ended, *as_sequence(user(memory, message, line))]


def shutdown(memory: SessionMemory, message: shapes.Shutdown, line: bytes) -> Events:
    """Read the end of a process."""
    return memory.settle_turn()


def record(memory: SessionMemory, message: shapes.Record, line: bytes) -> Events:
    """Read the tokens of a request."""
    used = message.data.usage or shapes.UsageData()
    return reported(
        usage_of(used),
        message_id=used.api_call_id or memory.new_id("request"),
        model=used.model,
        parent=memory.parent(message.agent_id, None),
    )


def _time_of(line: bytes) -> str | None:
    """The time of a line, which the shapes of the stream leave out."""
    found = _TIMESTAMP.search(line, max(0, len(line) - _ENVELOPE))
    return found[1].decode("ascii", "replace") if found else None


# Stored sessions, as the ledger reads them


def begin(parts: Sequence[str]) -> SessionFacts:
    """Return the facts by the path: `<session>/events.jsonl`, in old versions `<session>.jsonl`."""
    return SessionFacts(session=(session_of(parts) if parts else None) or "unknown")


def session(
    memory: SessionMemory,
    message: shapes.SessionStart | shapes.SessionResume | shapes.ContextChanged,
    line: bytes,
) -> Sequence[Noted]:
    """Read the facts of the session."""
    note_time(memory, message.timestamp)
    facts, data = memory.facts, message.data
    context = data.context or data
    facts.session = data.session_id or facts.session
    facts.version = data.copilot_version or facts.version
    facts.project = context.cwd or facts.project
    facts.branch = context.branch or facts.branch
    return (
        Session(
            id=facts.session,
            at=facts.at,
            project=facts.project,
            branch=facts.branch,
            version=facts.version,
        ),
    )


def title(memory: SessionMemory, message: shapes.StoredPrompt, line: bytes) -> Sequence[Noted]:
    """Take the first prompt of the user as the title."""
    note_time(memory, message.timestamp)
    facts = memory.facts
    if facts.is_titled or message.agent_id:
        return ()
    title = one_line(message.data.content or "", _LONGEST_TITLE)
    facts.is_titled = bool(title)
    return (Session(id=facts.session, at=facts.at, title=title),) if title else ()


def subagent_name(
    memory: SessionMemory, message: shapes.SubagentStarted, line: bytes
) -> Sequence[Noted]:
    """Read the name of a subagent; its records have its id."""
    if message.data.agent_name and message.agent_id:
        memory.facts.subagents[message.agent_id] = message.data.agent_name
    return ()


def request(memory: SessionMemory, message: shapes.Record, line: bytes) -> Sequence[Noted]:
    """Read the tokens of a request."""
    note_time(memory, message.timestamp)
    facts, usage, agent = memory.facts, message.data.usage, message.agent_id
    id = call_id(usage.api_call_id, message.id) if usage is not None else None
    if usage is None or id is None:
        return ()
    facts.has_records = True
    subagent = facts.subagents.get(agent, agent) if agent else None
    return (make_call(usage_of(usage), facts, id=id, model=usage.model, subagent=subagent),)


def process_end(memory: SessionMemory, message: shapes.Shutdown, line: bytes) -> Sequence[Noted]:
    """Read the usage of a process by model: the only usage in versions without records of requests.

    Each process reports its own use, except that 1.0.102 reports that of the whole session.
    """
    note_time(memory, message.timestamp)
    facts, data = memory.facts, message.data
    noted: list[Noted] = []
    facts.ends += 1
    start = message.id or f"{facts.session}/{facts.ends}"
    for model, metrics in (data.model_metrics or {}).items():
        usage = metrics.usage or shapes.Tokens()
        if data.accounting_snapshot is not None:
            before = facts.totals.get(model, shapes.Tokens())
            facts.totals[model] = usage
            usage = _difference(usage, before)
        if any(astuple(usage)) and not facts.has_records:
            used, id = usage_of(usage), f"{start}/{model}"
            noted.append(make_call(used, facts, id=id, model=model, summed=True, fallback=True))
    return noted


def _difference(usage: shapes.Tokens, before: shapes.Tokens) -> shapes.Tokens:
    pairs = zip(astuple(usage), astuple(before), strict=True)
    return shapes.Tokens(*(max(0, (now or 0) - (then or 0)) for now, then in pairs))


_OWN = frozenset({"session.start", "session.resume", "session.shutdown"})
_SILENT = silent_types(name for name in shapes.SILENT if name not in _OWN)

TABLE = (
    Row(shapes.ToolsUpdated, tools_updated, "both"),
    Row(shapes.ServersLoaded, servers_loaded, "both"),
    Row(shapes.UserMessage, user),
    Row(shapes.MessageDelta, delta, "both"),
    Row(shapes.AssistantMessage, said, "both"),
    Row(shapes.ReasoningDelta, thought_delta, "both"),
    Row(shapes.Reasoning, thought, "both"),
    Row(shapes.CallDelta, call_delta, "both"),
    Row(shapes.ToolStart, tool_start, "both"),
    Row(shapes.ShellOutput, shell_output, "both"),
    Row(shapes.ToolProgress, shell_output, "both"),
    Row(shapes.ToolComplete, tool_complete, "both"),
    Row(shapes.SubagentStarted, subagent_started, "both"),
    Row(shapes.SubagentCompleted, subagent_ended, "both"),
    Row(shapes.SubagentFailed, subagent_ended, "both"),
    Row(shapes.CallFailure, call_failure, "both"),
    Row(shapes.TurnRetry, retry, "both"),
    Row(shapes.Usage, usage),
    Row(shapes.SessionError, error, "both"),
    Row(shapes.Info, info, "both"),
    Row(shapes.Warning, warning, "both"),
    Row(shapes.CompactionComplete, compacted, "both"),
    Row(shapes.ModelChange, model_change, "both"),
    Row(shapes.ModeChanged, mode, "both"),
    Row(shapes.ModeNotice, mode, "both"),
    Row(shapes.HookStart, hook_start, "both"),
    Row(shapes.HookEnd, hook_end, "both"),
    Row(shapes.AutopilotStopped, autopilot, "both"),
    Row(shapes.Idle, idle, "both"),
    Row(shapes.Abort, abort, "both"),
    Row(shapes.Result, result, "both"),
    Row(shapes.UserMessage, stored_user, "stored"),
    Row(shapes.Usage, no_events, "stored"),  # repeats the record of the same request
    Row(shapes.SessionStart, session_start, "stored"),
    Row(shapes.SessionResume, session_start, "stored"),
    Row(shapes.Shutdown, shutdown, "stored"),
    Row(shapes.Record, record, "stored"),
    *(Row(shape, read, "stored") for shape, read in _SILENT.items()),
    Row(shapes.SessionStart, session, "ledger", (b'"session.start"',)),
    Row(shapes.SessionResume, session, "ledger", (b'"session.resume"',)),
    Row(shapes.ContextChanged, session, "ledger", (b'"session.context_changed"',)),
    Row(shapes.StoredPrompt, title, "ledger", (b'"user.message"',)),
    Row(shapes.SubagentStarted, subagent_name, "ledger", (b'"subagent.started"',)),
    Row(shapes.Record, request, "ledger", (b'"session.usage_record"',)),
    Row(shapes.Shutdown, process_end, "ledger", (b'"session.shutdown"',)),
)

decoder = decoder_of("copilot", stream_of(TABLE), Memory, silent=shapes.SILENT)
"""Returns a decoder for one stream of GitHub Copilot CLI."""

STORED = Stored(
    "copilot",
    TABLE,
    SessionMemory,
    facts=SessionFacts,
    begin=begin,
    time="timestamp",
    time_of=_time_of,
)
"""Reads stored sessions."""
