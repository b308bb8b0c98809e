"""Reads system messages: sessions, retries, tasks, hooks, compaction, and other notices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.agents.claude import shapes
from nightrook.agents.claude.memory import Memory
from nightrook.agents.claude.messages import deny, set_mode
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    HookFinished,
    HookStarted,
    Level,
    McpServer,
    ModelChanged,
    Notice,
    Retrying,
    SessionStarted,
    Status,
    TaskFinished,
    TaskKind,
    TaskProgress,
    TaskStarted,
    TaskUsage,
    Unknown,
    Unreadable,
)

_TASK_KINDS: Mapping[str, TaskKind] = {"local_agent": "subagent", "local_bash": "command"}
_TASK_STATUS: Mapping[str, Status] = {
    "completed": "ok",
    "failed": "error",
    "stopped": "cancelled",
    "killed": "cancelled",
}
_STRUCTURED_OUTPUT = "StructuredOutput"  # the tool exists only with `--json-schema`
_LEVELS: Mapping[str, Level] = {"warning": "warning", "error": "error"}


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read a system message by its subtype."""
    if message.subtype in SILENT:
        return ()
    name = f"system/{message.subtype}" if message.subtype else "system"
    decoder, read = _READERS.get(message.subtype or "", (None, None))
    shape = _shape(memory, name, line, decoder) if decoder else None
    if read is None or shape is None:
        return (Unknown(name=name, raw=salvage.raw_copy(line)),)
    return read(memory, shape)


def _shape(memory: Memory, name: str, line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Decode the fields of one subtype; those that do not fit are dropped and counted."""
    try:
        return decoder.decode(line)
    except (ValueError, RecursionError):
        repaired = salvage.parse(line)
    if isinstance(repaired, Unreadable):
        return None
    fitted = salvage.fit(repaired.value, decoder)
    for field in fitted.dropped:
        memory.drift.add(name, field)
    return fitted.value


def _init(memory: Memory, init: shapes.Init) -> Sequence[Event]:
    """Read an init: it starts a turn, and a session if its id is new."""
    memory.new_version(init.claude_code_version)
    events: list[Event] = []
    if init.session_id not in memory.sessions:
        memory.sessions.add(init.session_id)
        events.append(_session(init))
    else:
        if init.permissionMode is not None:
            events += set_mode(memory, init.permissionMode)
        if init.model != memory.model:
            events.append(ModelChanged(before=memory.model, after=init.model))
    memory.model = init.model
    memory.mode = init.permissionMode
    memory.wants_structure = _STRUCTURED_OUTPUT in (init.tools or ())
    events += memory.begin_turn()
    return events


def _session(init: shapes.Init) -> SessionStarted:
    servers = None
    if init.mcp_servers is not None:
        servers = tuple(
            McpServer(name=server)
            if isinstance(server, str)
            else McpServer(name=server.name or "", status=server.status)
            for server in init.mcp_servers
        )
    return SessionStarted(
        session=init.session_id,
        model=init.model,
        cwd=init.cwd,
        version=init.claude_code_version,
        tools=None if init.tools is None else tuple(init.tools),
        mcp_servers=servers,
        permission_mode=init.permissionMode,
        credential=init.apiKeySource,
    )


def _status(memory: Memory, status: shapes.Status) -> Sequence[Event]:
    events: list[Event] = []
    if status.permissionMode is not None:
        events += set_mode(memory, status.permissionMode)
    if status.status == "compacting" and not status.compact_output_chars:
        events.append(Notice(level="info", text="compacting the conversation"))
    if status.compact_result == "failed":
        reason = f": {status.compact_error}" if status.compact_error else ""
        events.append(Notice(level="warning", text=f"compacting the conversation failed{reason}"))
    return events


def api_retry(memory: Memory, retry: shapes.ApiRetry) -> Sequence[Event]:
    """Read a retry of a request to the API."""
    delay = retry.retry_delay_ms
    return (
        Retrying(
            attempt=retry.attempt,
            max_attempts=retry.max_retries,
            delay_s=None if delay is None else delay / 1000,
            status=retry.error_status,
            reason=None if retry.error == "unknown" else retry.error,
        ),
    )


def compact_boundary(memory: Memory, boundary: shapes.CompactBoundary) -> Sequence[Event]:
    """Read the replacement of the conversation by a summary."""
    data = boundary.compact_metadata or shapes.CompactMetadata()
    return (
        ContextCompacted(
            trigger=data.trigger, before_tokens=data.pre_tokens, after_tokens=data.post_tokens
        ),
    )


def _hook_started(memory: Memory, hook: shapes.Hook) -> Sequence[Event]:
    return (HookStarted(id=hook.hook_id or memory.new_id("hook"), hook=hook.hook_name),)


def _hook_response(memory: Memory, hook: shapes.Hook) -> Sequence[Event]:
    # 2.0.76 writes neither id nor outcome, only the exit code.
    ok: bool | None = None
    if hook.outcome is not None:
        ok = hook.outcome == "success"
    elif hook.exit_code is not None:
        ok = hook.exit_code == 0
    return (
        HookFinished(
            id=hook.hook_id or memory.new_id("hook"),
            hook=hook.hook_name,
            ok=ok,
            output=hook.output or hook.stdout or hook.stderr or None,
        ),
    )


def _task_started(memory: Memory, task: shapes.Task) -> Sequence[Event]:
    id = task.task_id or memory.new_id("task")
    memory.reports_tasks = True
    if id in memory.tasks:
        return ()
    started = memory.tasks[id] = TaskStarted(
        id=id,
        kind=_TASK_KINDS.get(task.task_type or "", "other"),
        title=task.description,
        tool_id=task.tool_use_id,
        background=task.is_backgrounded,
    )
    return (started,)


def _task_progress(memory: Memory, task: shapes.Task) -> Sequence[Event]:
    id = task.task_id or memory.new_id("task")
    known = memory.tasks.get(id)
    return (
        TaskProgress(
            id=id,
            kind=known.kind if known else None,
            title=task.description,
            tool_id=task.tool_use_id,
            usage=_usage(task.usage),
        ),
    )


def _task_updated(memory: Memory, task: shapes.Task) -> Sequence[Event]:
    """Read the end of a task; its summary follows in the next line or not at all (2.1.197 s27b)."""
    patch = task.patch or shapes.TaskPatch()
    status = _TASK_STATUS.get(patch.status or "")
    known = memory.tasks.pop(task.task_id or "", None) if status else None
    if known is None or status is None:
        return ()
    memory.ended_task = TaskFinished(
        id=known.id,
        status=status,
        kind=known.kind,
        title=known.title,
        tool_id=known.tool_id,
        summary=patch.error,
    )
    return ()


def _task_notification(memory: Memory, task: shapes.Task) -> Sequence[Event]:
    held = memory.ended_task
    same = held is not None and held.id == task.task_id
    events = [] if same else [*memory.release_task()]
    known = held if same else memory.tasks.pop(task.task_id or "", None)
    memory.ended_task = None
    if known is None:
        return events  # its end was reported before
    status = _TASK_STATUS.get(task.status or "", held.status if same and held else "ok")
    if known.tool_id not in memory.tools and status != "cancelled":
        memory.woken = True
    events.append(
        TaskFinished(
            id=known.id,
            status=status,
            kind=known.kind,
            title=known.title,
            tool_id=task.tool_use_id or known.tool_id,
            summary=task.summary,
            usage=_usage(task.usage),
        )
    )
    return events


def _permission_denied(memory: Memory, denial: shapes.PermissionDenied) -> Sequence[Event]:
    id = denial.tool_use_id
    if id is None:
        return ()
    memory.decide(id, rejected=True)
    tool = memory.tools.get(id)
    return deny(memory, id, tool, name=denial.tool_name, reason=denial.message)


def model_fallback(memory: Memory, switch: shapes.ModelSwitch) -> Sequence[Event]:
    """Read a change of the model."""
    memory.model = switch.fallback_model
    return (
        ModelChanged(
            before=switch.original_model, after=switch.fallback_model, reason=switch.trigger
        ),
    )


def refusal(memory: Memory, switch: shapes.ModelSwitch) -> Sequence[Event]:
    """Read the reason of a refusal; the next message reports the refusal itself."""
    reason = switch.api_refusal_explanation or switch.api_refusal_category or switch.content
    return (Error(kind="policy", message=reason, retryable=False),) if reason else ()


def notice(memory: Memory, notice: shapes.Notice) -> Sequence[Event]:
    """Read a sentence for the user."""
    text = notice.content or notice.text or notice.error or notice.error_code or notice.reason
    failed = notice.error or notice.error_code
    level = "error" if failed else _LEVELS.get(notice.level or "", "info")
    if notice.prevent_continuation:
        memory.signs.blocked = text or ""
    return (Notice(level=level, text=text),) if text else ()


def tool_use_summary(
    memory: Memory, message: shapes.ToolUseSummary, line: bytes
) -> Sequence[Event]:
    """Read the summary of a batch of tool calls."""
    return (Notice(level="info", text=message.summary),) if message.summary else ()


def conversation_reset(
    memory: Memory, message: shapes.ConversationReset, line: bytes
) -> Sequence[Event]:
    """Read the clearing of the conversation."""
    return (Notice(level="info", text="the conversation was cleared"),)


def _usage(usage: shapes.TaskUsage | None) -> TaskUsage | None:
    if usage is None:
        return None
    duration = usage.duration_ms
    return TaskUsage(
        tokens=usage.total_tokens,
        tool_uses=usage.tool_uses,
        duration_s=None if duration is None else duration / 1000,
    )


SILENT = frozenset(
    {
        "background_tasks_changed",
        "commands_changed",
        "control_request_progress",
        "elicitation_complete",
        "files_persisted",
        "hook_progress",
        "memory_recall",
        "session_state_changed",
        "thinking_tokens",
        "ui_invalidate",
    }
)
"""Known subtypes without events: other messages report the same."""

_Read = Callable[[Memory, Any], Sequence[Event]]


def _reader(shape: type[msgspec.Struct], read: _Read) -> tuple[msgspec.json.Decoder[Any], _Read]:
    return msgspec.json.Decoder(shape), read


_READERS: Mapping[str, tuple[msgspec.json.Decoder[Any], _Read]] = {
    "init": _reader(shapes.Init, _init),
    "status": _reader(shapes.Status, _status),
    "api_retry": _reader(shapes.ApiRetry, api_retry),
    "compact_boundary": _reader(shapes.CompactBoundary, compact_boundary),
    "hook_started": _reader(shapes.Hook, _hook_started),
    "hook_response": _reader(shapes.Hook, _hook_response),
    "task_started": _reader(shapes.Task, _task_started),
    "task_progress": _reader(shapes.Task, _task_progress),
    "task_updated": _reader(shapes.Task, _task_updated),
    "task_notification": _reader(shapes.Task, _task_notification),
    "permission_denied": _reader(shapes.PermissionDenied, _permission_denied),
    "model_fallback": _reader(shapes.ModelSwitch, model_fallback),
    "model_refusal_fallback": _reader(shapes.ModelSwitch, model_fallback),
    "model_refusal_no_fallback": _reader(shapes.ModelSwitch, refusal),
    "informational": _reader(shapes.Notice, notice),
    "notification": _reader(shapes.Notice, notice),
    "local_command_output": _reader(shapes.Notice, notice),
    "mirror_error": _reader(shapes.Notice, notice),
    "plugin_install": _reader(shapes.Notice, notice),
    "session_writes_lost": _reader(shapes.Notice, notice),
    "worker_shutting_down": _reader(shapes.Notice, notice),
}
