"""Reads the lines of stored sessions as events, with the functions that read the stream."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.reader import Table, silent_types
from nightrook.adapter.stored import note_time, transcript_decoder
from nightrook.agents.claude import messages
from nightrook.agents.claude import shapes as stream
from nightrook.agents.claude.tools.results import text_of
from nightrook.agents.claude.transcript import shapes
from nightrook.agents.claude.transcript.memory import SessionMemory
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    HookFinished,
    Level,
    ModelChanged,
    Notice,
    Retrying,
    Status,
    TaskFinished,
    TaskStarted,
    Text,
    ToolStarted,
    Unknown,
    UserMessage,
)

_ANSWERS = ("end_turn", "stop_sequence", "max_tokens", "refusal", None)
"""Why a model stops when a turn ends; 1.0.128 often does not say (`s24_resume-1.0.128`)."""

_MOST_PROMPTS = 256
_INTERRUPT = "[Request interrupted by user"
_NOTIFICATION = re.compile(r"<(task|bash)-notification>")
_TASK = re.compile(r"<(?:task|shell)-id>([^<]+)<")
_STATUS = re.compile(r"<status>([^<]+)<")
_SUMMARY = re.compile(r"<summary>([^<]*)<")
_ENDS: Mapping[str, Status] = {"completed": "ok", "failed": "error", "killed": "cancelled"}
_LEVELS: Mapping[str, Level] = {"warning": "warning", "error": "error"}

_prompt_decoder = msgspec.json.Decoder(str)


class _Asked(msgspec.Struct):
    """What a subagent is asked to do."""

    prompt: str | None = None


_asked_decoder = msgspec.json.Decoder(_Asked)


def _assistant(memory: SessionMemory, line: shapes.Assistant, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    parent = memory.parent_of(line)
    error = line.error or ("unknown" if line.isApiErrorMessage else None)
    read = stream.Assistant(
        message=line.message,
        parent_tool_use_id=parent,
        error=error,
        api_error=line.apiError,
        api_error_type=line.apiErrorType,
    )
    events += messages.assistant(memory, read, raw)
    for event in events:
        if isinstance(event, ToolStarted) and event.kind == "subagent":
            _remember_prompt(memory, event)
    if parent is None and line.message is not None and not (line.isSidechain and not line.agentId):
        _note_answer(memory, line.message, events, failed=error is not None)
    return events


def _begin(memory: SessionMemory, line: shapes.Entry) -> list[Event]:
    note_time(memory, line.timestamp)
    return memory.open_session(line)


def _remember_prompt(memory: SessionMemory, call: ToolStarted) -> None:
    asked = salvage.decode_part(call.input, _asked_decoder) if call.input else None
    if asked is not None and asked.prompt:
        memory.prompts[asked.prompt] = call.id
        forget_oldest(memory.prompts, _MOST_PROMPTS)


def _note_answer(
    memory: SessionMemory, message: stream.Message, events: Sequence[Event], *, failed: bool
) -> None:
    """Remember what a message of the main agent says about the end of its turn."""
    turn = memory.turn
    if failed:
        turn.error = text_of(message.content) or "the request failed"
        return
    texts = [event.text for event in events if isinstance(event, Text)]
    calls = any(isinstance(event, ToolStarted) for event in events)
    turn.error = None
    turn.text = texts[-1] if texts else turn.text
    turn.stop_reason = message.stop_reason or turn.stop_reason
    turn.is_answered = not calls and message.stop_reason in _ANSWERS


def _user(memory: SessionMemory, line: shapes.User, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    message = line.message or stream.Message()
    text = _plain_text(message)
    parent = memory.parent_of(line, text)
    is_notice = text is not None and _NOTIFICATION.match(text) is not None
    if is_notice:
        events += _task_end(memory, text or "")
    if _is_prompt(line, text):
        events += _next_turn(memory, text or "", woken=is_notice)
    synthetic = line.isMeta or line.isCompactSummary or is_notice or None
    read = stream.User(
        message=message,
        parent_tool_use_id=parent,
        tool_use_result=line.toolUseResult,
        tool_result_meta=_decisions(message, line.permissionDecision),
        isSynthetic=synthetic,
    )
    found = messages.user(memory, read, raw)
    if text is None:
        memory.turn.is_answered = False
    return [*events, *found, *_tasks(memory, line, message)]


def _plain_text(message: stream.Message) -> str | None:
    """The text of a line without results of tools; None if it has results."""
    content = message.content
    if isinstance(content, str):
        return content
    blocks = content or ()
    if any(block.type == "tool_result" for block in blocks):
        return None
    return next((block.text for block in blocks if block.type == "text" and block.text), None)


def _is_prompt(line: shapes.User, text: str | None) -> bool:
    """Whether a line begins a turn of the agent whose file this is."""
    inline = line.isSidechain and not line.agentId
    return bool(text) and not (inline or line.isMeta or line.isCompactSummary)


def _next_turn(memory: SessionMemory, text: str, *, woken: bool) -> list[Event]:
    if text.startswith(_INTERRUPT):
        return memory.settle_turn(reason="interrupted")
    if text.startswith("<local-command-"):
        return []
    memory.woken = memory.woken or woken
    return [*memory.settle_turn(), *memory.begin_turn()]


def _decisions(
    message: stream.Message, decision: stream.Decision | None
) -> list[stream.ResultMeta] | None:
    if decision is None or not isinstance(message.content, list):
        return None
    return [
        stream.ResultMeta(id=block.tool_use_id, permission_decision=decision)
        for block in message.content
        if block.type == "tool_result"
    ]


def _tasks(memory: SessionMemory, line: shapes.User, message: stream.Message) -> Sequence[Event]:
    """The subagent or command that a result names: no other line reports it."""
    result, content = line.toolUseResult, message.content
    if not isinstance(result, shapes.StoredResult) or not isinstance(content, list):
        return ()
    call = next((block.tool_use_id for block in content if block.type == "tool_result"), None)
    if result.backgroundTaskId is not None:
        id = result.backgroundTaskId
        started = memory.tasks[id] = TaskStarted(
            id=id, kind="command", tool_id=call, background=True
        )
        return (started,)
    id = result.agentId or ""
    if not id or id in memory.tasks or result.status == "async_launched":
        return ()
    ended: Status = "ok" if result.status in ("completed", None) else "error"
    return (
        TaskStarted(id=id, kind="subagent", tool_id=call),
        TaskFinished(id=id, kind="subagent", tool_id=call, status=ended),
    )


def _task_end(memory: SessionMemory, text: str) -> Sequence[Event]:
    """Read that a task in the background ended, which the agent is told in a message."""
    named = _TASK.search(text)
    known = memory.tasks.pop(named[1], None) if named else None
    if known is None:
        return ()
    status, summary = _STATUS.search(text), _SUMMARY.search(text)
    return (
        TaskFinished(
            id=known.id,
            status=_ENDS.get(status[1], "ok") if status else "ok",
            kind=known.kind,
            title=known.title,
            tool_id=known.tool_id,
            summary=summary[1] if summary else None,
        ),
    )


def _system(memory: SessionMemory, line: shapes.System, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    read = _SUBTYPES.get(line.subtype or "")
    if read is None:
        return [*events, Unknown(name=f"system/{line.subtype}", raw=salvage.raw_copy(raw))]
    return [*events, *read(memory, line)]


def _retry(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    error, delay = line.error or shapes.ApiError(), line.retryInMs
    return (
        Retrying(
            attempt=line.retryAttempt,
            max_attempts=line.maxRetries,
            delay_s=None if delay is None else delay / 1000,
            status=error.status,
            reason=error.formatted or error.message,
        ),
    )


def _compacted(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    data = line.compactMetadata or shapes.CompactMetadata()
    return (
        ContextCompacted(
            trigger=data.trigger, before_tokens=data.preTokens, after_tokens=data.postTokens
        ),
    )


def _notice(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    level = _LEVELS.get(line.level or "", "info")
    return (Notice(level=level, text=line.content),) if line.content else ()


def _model(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    memory.model = line.fallbackModel
    return (ModelChanged(before=line.originalModel, after=line.fallbackModel, reason=line.trigger),)


def _refusal(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    reason = line.apiRefusalExplanation or line.apiRefusalCategory or line.content
    return (Error(kind="policy", message=reason, retryable=False),) if reason else ()


def _stop_hooks(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    return [Notice(level="warning", text=error) for error in line.hookErrors or () if error]


def _nothing(memory: SessionMemory, line: shapes.System) -> Sequence[Event]:
    return ()


_SUBTYPES: Mapping[str, Callable[[SessionMemory, shapes.System], Sequence[Event]]] = {
    "api_error": _retry,
    "compact_boundary": _compacted,
    "informational": _notice,
    "local_command": _notice,
    "model_fallback": _model,
    "model_refusal_no_fallback": _refusal,
    "stop_hook_summary": _stop_hooks,
    "turn_duration": _nothing,
}

_SILENT_ATTACHMENTS = frozenset(
    {
        *("agent_listing_delta", "budget_usd", "command_permissions", "compact_file_reference"),
        *("date", "deferred_tools_delta", "deferred_tools_record", "environment", "instructions"),
        *("model", "prompt_snapshot", "read_truncation_notice", "remote_session_change"),
        *("session_context", "skill_listing", "structured_output", "task_reminder"),
        *("total_tokens_reminder", "unknown_command_fallback"),
    }
)
"""What the agent tells its model by itself: nothing that happened."""

_HOOKS = {"hook_success": True, "hook_non_blocking_error": False, "hook_stopped_continuation": True}
_MODES = {"plan_mode": "plan", "plan_mode_exit": "default"}


def _attachment(memory: SessionMemory, line: shapes.Attachment, raw: bytes) -> Sequence[Event]:
    events = _begin(memory, line)
    attached = line.attachment or shapes.Attached()
    kind = attached.type
    if kind in _HOOKS:
        output = attached.stdout or attached.stderr or None
        id = memory.new_id("hook")
        events.append(HookFinished(id=id, hook=attached.hookName, ok=_HOOKS[kind], output=output))
    elif kind in _MODES:
        events += messages.set_mode(memory, _MODES[kind])
    elif kind == "max_turns_reached":
        events += memory.settle_turn(reason="max_turns")
    elif kind == "queued_command":
        events += _queued(attached)
    elif kind not in _SILENT_ATTACHMENTS:
        events.append(Unknown(name=f"attachment/{kind}", raw=salvage.raw_copy(raw)))
    return events


def _queued(attached: shapes.Attached) -> Sequence[Event]:
    """A prompt that was written while the agent worked."""
    text = salvage.decode_part(attached.prompt, _prompt_decoder) if attached.prompt else None
    if not text:
        return ()
    synthetic = True if _NOTIFICATION.match(text) else None
    return (UserMessage(text=text, synthetic=synthetic),)


def _queue(memory: SessionMemory, line: shapes.QueueOperation, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.timestamp)
    return ()


_TABLE: Table[SessionMemory] = {
    shapes.Assistant: _assistant,
    shapes.User: _user,
    shapes.System: _system,
    shapes.Attachment: _attachment,
    shapes.QueueOperation: _queue,
    **silent_types(
        (
            *("api-request", "api-request-blob", "api-request-shape", "atis-latch", "cost-state"),
            *("last-prompt", "mode", "permission-mode", "summary", "tools-used", "ai-title"),
            *("custom-title", "agent-name", "agent-color", "file-history-snapshot", "pr-link"),
        )
    ),
}

decoder = transcript_decoder("claude", _TABLE, SessionMemory)
"""Returns a decoder for one stored session of Claude Code."""
