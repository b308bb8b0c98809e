"""Reads the lines of stored sessions as events, with the functions that read the shapes."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.stored import note_time
from nightrook.agents.claude import messages, shapes, system
from nightrook.agents.claude.memory import SessionMemory
from nightrook.agents.claude.tools import text_of
from nightrook.model.events import (
    Event,
    HookFinished,
    Notice,
    Status,
    TaskFinished,
    TaskStarted,
    Text,
    ToolStarted,
    Unknown,
    UserMessage,
)

_ANSWERS = ("end_turn", "stop_sequence", "max_tokens", "refusal", None)
"""The model's stop reasons at the end of a turn; 1.0.128 often has none (`s24_resume-1.0.128`)."""

_MOST_PROMPTS = 256
_INTERRUPT = "[Request interrupted by user"
_NOTIFICATION = re.compile(r"<(task|bash)-notification>")
_TASK = re.compile(r"<(?:task|shell)-id>([^<]+)<")
_STATUS = re.compile(r"<status>([^<]+)<")
_SUMMARY = re.compile(r"<summary>([^<]*)<")
_ENDS: Mapping[str, Status] = {"completed": "ok", "failed": "error", "killed": "cancelled"}

_prompt_decoder = msgspec.json.Decoder(str)


class _Asked(msgspec.Struct):
    """The prompt of a subagent."""

    prompt: str | None = None


_asked_decoder = msgspec.json.Decoder(_Asked)


def assistant(memory: SessionMemory, line: shapes.StoredAssistant, raw: bytes) -> Sequence[Event]:
    """Read a message of the model, as a line of the stream."""
    events = _begin(memory, line)
    parent = memory.parent_of(line)
    error = line.error or ("unknown" if line.isApiErrorMessage else None)
    read = shapes.Assistant(
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


def _begin(memory: SessionMemory, line: shapes.StoredLine) -> list[Event]:
    note_time(memory, line.timestamp)
    return memory.open_session(line)


def _remember_prompt(memory: SessionMemory, call: ToolStarted) -> None:
    asked = salvage.decode_part(call.input, _asked_decoder) if call.input else None
    if asked is not None and asked.prompt:
        memory.prompts[asked.prompt] = call.id
        forget_oldest(memory.prompts, _MOST_PROMPTS)


def _note_answer(
    memory: SessionMemory, message: shapes.Message, events: Sequence[Event], *, failed: bool
) -> None:
    """Remember the facts about the end of its turn in a message of the main agent."""
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


def user(memory: SessionMemory, line: shapes.StoredUser, raw: bytes) -> Sequence[Event]:
    """Read a prompt or the results of tools, as a line of the stream."""
    events = _begin(memory, line)
    message = line.message or shapes.Message()
    text = _plain_text(message)
    parent = memory.parent_of(line, text)
    is_notice = text is not None and _NOTIFICATION.match(text) is not None
    if is_notice:
        events += _task_end(memory, text or "")
    if _is_prompt(line, text):
        events += _next_turn(memory, text or "", woken=is_notice)
    synthetic = line.isMeta or line.isCompactSummary or is_notice or None
    read = shapes.User(
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


def _plain_text(message: shapes.Message) -> str | None:
    """The text of a line without results of tools; None if it has results."""
    content = message.content
    if isinstance(content, str):
        return content
    blocks = content or ()
    if any(block.type == "tool_result" for block in blocks):
        return None
    return next((block.text for block in blocks if block.type == "text" and block.text), None)


def _is_prompt(line: shapes.StoredUser, text: str | None) -> bool:
    """True if a line begins a turn of the agent whose file this is."""
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
    message: shapes.Message, decision: shapes.Decision | None
) -> list[shapes.ResultMeta] | None:
    if decision is None or not isinstance(message.content, list):
        return None
    return [
        shapes.ResultMeta(id=block.tool_use_id, permission_decision=decision)
        for block in message.content
        if block.type == "tool_result"
    ]


def _tasks(
    memory: SessionMemory, line: shapes.StoredUser, message: shapes.Message
) -> Sequence[Event]:
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
    """Read the end of a background task, which a message reports to the agent."""
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


def system_line(memory: SessionMemory, line: shapes.StoredSystem, raw: bytes) -> Sequence[Event]:
    """Read a system message by its subtype."""
    events = _begin(memory, line)
    read = _SUBTYPES.get(line.subtype or "")
    if read is None:
        return [*events, Unknown(name=f"system/{line.subtype}", raw=salvage.raw_copy(raw))]
    return [*events, *read(memory, line)]


def _retry(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    error = line.error or shapes.StoredApiError()
    retry = shapes.ApiRetry(
        attempt=line.retryAttempt,
        max_retries=line.maxRetries,
        retry_delay_ms=line.retryInMs,
        error_status=error.status,
        error=error.formatted or error.message,
    )
    return system.api_retry(memory, retry)


def _compacted(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    data = line.compactMetadata or shapes.StoredCompactMetadata()
    compacted = shapes.CompactMetadata(data.trigger, data.preTokens, data.postTokens)
    return system.compact_boundary(memory, shapes.CompactBoundary(compacted))


def _notice(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    return system.notice(memory, shapes.Notice(content=line.content, level=line.level))


def _switch(line: shapes.StoredSystem) -> shapes.ModelSwitch:
    return shapes.ModelSwitch(
        original_model=line.originalModel,
        fallback_model=line.fallbackModel,
        trigger=line.trigger,
        content=line.content,
        api_refusal_category=line.apiRefusalCategory,
        api_refusal_explanation=line.apiRefusalExplanation,
    )


def _model_fallback(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    return system.model_fallback(memory, _switch(line))


def _refusal(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    return system.refusal(memory, _switch(line))


def _stop_hooks(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    return [Notice(level="warning", text=error) for error in line.hookErrors or () if error]


def _nothing(memory: SessionMemory, line: shapes.StoredSystem) -> Sequence[Event]:
    return ()


_SUBTYPES: Mapping[str, Callable[[SessionMemory, shapes.StoredSystem], Sequence[Event]]] = {
    "api_error": _retry,
    "compact_boundary": _compacted,
    "informational": _notice,
    "local_command": _notice,
    "model_fallback": _model_fallback,
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
"""Attachments for the model alone, which are not events."""

_HOOKS = {"hook_success": True, "hook_non_blocking_error": False, "hook_stopped_continuation": True}
_MODES = {"plan_mode": "plan", "plan_mode_exit": "default"}


def attachment(memory: SessionMemory, line: shapes.Attachment, raw: bytes) -> Sequence[Event]:
    """Read an attachment: results of hooks, modes, queued prompts."""
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


def queue_operation(
    memory: SessionMemory, line: shapes.QueueOperation, raw: bytes
) -> Sequence[Event]:
    """Read the time of a change to the queue of prompts."""
    note_time(memory, line.timestamp)
    return ()
