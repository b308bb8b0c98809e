"""The table of GitHub Copilot CLI's message types, and the decoder built on it."""

from collections.abc import Sequence

from nightrook.adapter.decoder import Events
from nightrook.adapter.memory import orphaned
from nightrook.adapter.reader import Table, decoder_of
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.usage import uncached
from nightrook.agents.copilot import errors, shapes, tools
from nightrook.agents.copilot.memory import Memory
from nightrook.model.events import (
    ContextCompacted,
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
    UsageReported,
    UserMessage,
)

_DENIED = frozenset({"denied", "rejected"})
_PLANNING = "Plan mode does not permit changes"  # 1.0.102 plan
_TOLD_ELSEWHERE = frozenset({"model_retry", "cancellation", "file_created", "file_changed"})
_LIMIT = "autopilot reached its limit of continuations"


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
    """Read why a request failed; another message says whether it is repeated."""
    memory.status, memory.attempt = message.data.status_code, message.data.retry_attempt
    return ()


def retry(memory: Memory, message: shapes.TurnRetry, line: bytes) -> Events:
    """Read that a request is repeated; the text that broke off counts no more."""
    if message.agent_id is None:
        memory.drop_partial()
    attempt = None if memory.attempt is None else memory.attempt + 1
    return Retrying(attempt=attempt, status=memory.status, reason=message.data.reason)


def usage(memory: Memory, message: shapes.Usage, line: bytes) -> Events:
    """Read the tokens of a request; its `cost` is a multiplier of premium requests, no money."""
    data = message.data
    read, written = data.cache_read_tokens, data.cache_write_tokens
    return UsageReported(
        message_id=data.api_call_id,
        model=data.model,
        stop_reason=data.finish_reason,
        scope="message",
        semantics="final",
        input=uncached(data.input_tokens, read, written),
        output=data.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=data.reasoning_tokens,
        parent=memory.parent(message.agent_id, data.parent_tool_call_id),
    )


def error(memory: Memory, message: shapes.SessionError, line: bytes) -> Events:
    """Read the error that ends the turn."""
    events = _begin(memory)
    memory.failure = errors.read(message.data)
    return [*events, memory.failure]


def info(memory: Memory, message: shapes.Info, line: bytes) -> Events:
    """Read what it tells its user, unless other messages report the same."""
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
    """Read that another model answers from here on."""
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
    """Read why autopilot stopped: at its limit, or because its work is done."""
    memory.stopped = message.data.reason
    return ()


def abort(memory: Memory, message: shapes.Abort, line: bytes) -> Events:
    """Read the end of a turn that was interrupted; no result follows (1.0.102 sigint_text)."""
    events = [*_begin(memory), *memory.abandon()]
    memory.aborted = True
    return [*events, memory.finish_turn("interrupted", None)]


def idle(memory: Memory, message: shapes.Idle, line: bytes) -> Events:
    """Read that it has nothing to do: the only sign of an interrupted call (sigterm_tool)."""
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
    reason, text = ending(memory, message.exit_code)
    if reason is None and message.exit_code is None:
        reason, text = "error", "copilot reports no exit code"
    used = message.usage or shapes.Durations()
    finished = memory.finish_turn(reason, text, duration_s=_seconds(used.session_duration_ms))
    return [*events, finished]


def ending(memory: Memory, code: int | None) -> tuple[str | None, str | None]:
    """The reason why a turn failed, if it did, and its answer or error."""
    if memory.failure is not None:
        return "api_error", memory.failure.message
    if memory.stopped == "cap_reached":
        return "max_turns", _LIMIT
    if code:
        return "error", f"copilot reports the exit code {code}"
    return None, memory.answer


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


TABLE: Table[Memory] = {
    shapes.ToolsUpdated: tools_updated,
    shapes.ServersLoaded: servers_loaded,
    shapes.UserMessage: user,
    shapes.MessageDelta: delta,
    shapes.AssistantMessage: said,
    shapes.ReasoningDelta: thought_delta,
    shapes.Reasoning: thought,
    shapes.CallDelta: call_delta,
    shapes.ToolStart: tool_start,
    shapes.ShellOutput: shell_output,
    shapes.ToolProgress: shell_output,
    shapes.ToolComplete: tool_complete,
    shapes.SubagentStarted: subagent_started,
    shapes.SubagentCompleted: subagent_ended,
    shapes.SubagentFailed: subagent_ended,
    shapes.CallFailure: call_failure,
    shapes.TurnRetry: retry,
    shapes.Usage: usage,
    shapes.SessionError: error,
    shapes.Info: info,
    shapes.Warning: warning,
    shapes.CompactionComplete: compacted,
    shapes.ModelChange: model_change,
    shapes.ModeChanged: mode,
    shapes.ModeNotice: mode,
    shapes.HookStart: hook_start,
    shapes.HookEnd: hook_end,
    shapes.AutopilotStopped: autopilot,
    shapes.Idle: idle,
    shapes.Abort: abort,
    shapes.Result: result,
}
"""The function that reads each type of message."""

decoder = decoder_of("copilot", TABLE, Memory, silent=shapes.SILENT)
"""Returns a decoder for one stream of GitHub Copilot CLI."""
