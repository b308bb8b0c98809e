"""The table of Qwen Code's message types, and the decoder built on it."""

from collections.abc import Callable, Mapping, Sequence

from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.drift import watch
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.oversized import Shortened
from nightrook.adapter.reader import Table, TableReader
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.usage import uncached
from nightrook.agents.qwen import errors, messages, shapes, tools
from nightrook.agents.qwen.memory import Memory
from nightrook.model.events import (
    Denial,
    Error,
    Event,
    McpServer,
    ModelChanged,
    Notice,
    PermissionDenied,
    Retrying,
    SessionStarted,
    Status,
    TaskFinished,
    TaskStarted,
    TaskUsage,
    TurnFinished,
    Unknown,
    UsageReported,
)

CHECKED_VERSIONS = ("0.15.10", "0.24.4")
"""The versions of which every field was checked."""

_STATUSES: Mapping[str | None, Status] = {
    "completed": "ok",
    "failed": "error",
    "cancelled": "cancelled",
}
"""How a background task ended; in any other state it is still running."""


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read the start of a turn, the state of a background task, or a notice."""
    read = _SYSTEM.get(message.subtype)
    events = None if read is None else read(memory, message)
    if events is None:
        return (Unknown(name=f"system/{message.subtype}", raw=raw_copy(line)),)
    return events


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; the usage is that of the whole session, with internal requests."""
    if message.is_error and not message.duration_ms and memory.in_subagent():
        # A subagent's failure looks like a result, but the turn continues (source of 0.15.10).
        failed = message.error.message if message.error else None
        return (Error(kind="internal", message=failed),)
    events = [*memory.begin_turn(), *memory.unfinished()]
    denials = tuple(_denial(memory, denied) for denied in message.permission_denials or ())
    for denial in denials:
        if denial.tool_id not in memory.denied:
            reason = memory.errors.get(denial.tool_id or "")
            events.append(
                PermissionDenied(
                    tool_id=denial.tool_id,
                    name=denial.name,
                    input=denial.input,
                    reason=reason,
                    fix=denial.fix,
                )
            )
    used = message.usage
    if used is not None and (used.input_tokens or used.output_tokens):
        events.append(
            UsageReported(
                scope="session",
                semantics="cumulative",
                input=uncached(used.input_tokens, used.cache_read_input_tokens),
                output=used.output_tokens,
                cache_read=used.cache_read_input_tokens,
            )
        )
    failure, reason = _failure(memory, message)
    if failure is not None:
        events.append(failure)
    ok = failure is None and message.is_error is False and message.subtype == "success"
    events.append(
        TurnFinished(
            ok=ok,
            text=message.result if ok else None,
            reason=None if ok else reason,
            errors=(failure.message,) if failure and failure.message else None,
            denials=denials or None,
            duration_s=_seconds(message.duration_ms),
            api_duration_s=_seconds(message.duration_api_ms),
            turns=message.num_turns,
            structured=None if isinstance(line, Shortened) else raw_copy(message.structured_result),
        )
    )
    memory.end_turn()
    return events


_TABLE: Table[Memory] = {
    shapes.Assistant: messages.assistant,
    shapes.User: messages.user,
    shapes.StreamEvent: messages.stream_event,
    shapes.System: system,
    shapes.Result: result,
}


class QwenReader(TableReader):
    """Turns Qwen Code's messages into events.

    While an unchecked version writes, the first messages of each type are checked for unknown
    fields.
    """

    def __init__(self) -> None:
        super().__init__(Memory(), {**_TABLE, shapes.System: self._system}, looked_at=0)

    def _system(self, memory: Memory, message: shapes.System, line: bytes) -> Events:
        if message.subtype == "init" and message.qwen_code_version not in CHECKED_VERSIONS:
            self.functions[shapes.System] = system
            watch(self.functions, self.drift)
            return self.functions[shapes.System](memory, message, line)
        return system(memory, message, line)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of Qwen Code."""
    return LineDecoder("qwen", shapes.Shapes, QwenReader(), cap=cap)


def _init(memory: Memory, message: shapes.System) -> Sequence[Event]:
    events: list[Event] = []
    if message.session_id not in memory.sessions:
        memory.sessions.add(message.session_id)
        servers = message.mcp_servers
        events.append(
            SessionStarted(
                session=message.session_id,
                model=message.model,
                cwd=message.cwd,
                version=message.qwen_code_version,
                tools=None if message.tools is None else tuple(message.tools),
                mcp_servers=None
                if servers is None
                else tuple(McpServer(name=s.name, status=s.status) for s in servers if s.name),
                permission_mode=message.permission_mode,
            )
        )
    return [*events, *memory.begin_turn()]


def _task_started(memory: Memory, message: shapes.System) -> Sequence[Event] | None:
    task = message.data
    if task is None or task.task_id is None:
        return None
    if task.task_id in memory.tasks:
        return ()
    started = memory.tasks[task.task_id] = TaskStarted(
        id=task.task_id,
        kind="subagent" if task.subagent_type else "command",
        title=task.description,
        tool_id=task.tool_use_id,
        background=True,
    )
    return (started,)


def _task_finished(memory: Memory, message: shapes.System) -> Sequence[Event] | None:
    task = message.data
    if task is None or task.task_id is None:
        return None
    status = _STATUSES.get(task.status)
    if status is None or task.task_id not in memory.tasks:
        return ()
    started = memory.tasks.pop(task.task_id)
    used = task.usage
    return (
        TaskFinished(
            id=started.id,
            status=status,
            kind=started.kind,
            title=started.title,
            tool_id=started.tool_id,
            usage=None
            if used is None
            else TaskUsage(
                tokens=used.total_tokens,
                tool_uses=used.tool_uses,
                duration_s=_seconds(used.duration_ms),
            ),
        ),
    )


def _retry(memory: Memory, message: shapes.System) -> Sequence[Event]:
    """Read a retry; the texts of the failed attempt were already reported."""
    data = message.data or shapes.SystemData()
    if data.reason == "model_fallback":
        return ()  # the next message reports it, with the model
    # Many retries are reported twice, when decided and when started (0.24.4 cut_close).
    if memory.retrying and data.attempt is None and not data.preserveText:
        return ()
    memory.retrying = True
    return (
        Retrying(
            attempt=data.attempt, max_attempts=data.maxRetries, delay_s=_seconds(data.delayMs)
        ),
    )


def _model_fallback(memory: Memory, message: shapes.System) -> Sequence[Event]:
    data = message.data or shapes.SystemData()
    memory.fallback = data.toModel
    reason = None if data.statusCode is None else f"HTTP {data.statusCode}"
    return (ModelChanged(before=data.fromModel, after=data.toModel, reason=reason),)


def _worktree_restored(memory: Memory, message: shapes.System) -> Sequence[Event]:
    path = message.data.path if message.data else None
    return (Notice(level="info", text=f"continuing in the worktree {path}"),) if path else ()


def _notice(memory: Memory, message: shapes.System) -> Sequence[Event]:
    text = message.data.notice if message.data else None
    return (Notice(level="info", text=text),) if text else ()


def _warning(memory: Memory, message: shapes.System) -> Sequence[Event]:
    data = message.data or shapes.SystemData()
    text = data.notice or data.message or data.error
    return (Notice(level="warning", text=text),) if text else ()


_SYSTEM: Mapping[str | None, Callable[[Memory, shapes.System], Sequence[Event] | None]] = {
    "init": _init,
    "task_started": _task_started,
    "task_notification": _task_finished,
    "retry": _retry,
    "model_fallback": _model_fallback,
    "worktree_started": _notice,
    "worktree_restored": _worktree_restored,
    "vision_routing": _notice,
    "vision_bridge": _notice,
    "vision_bridge_failed": _warning,
    "session_recording_degraded": _warning,
    "continue_turn_failed": _warning,
}
"""Functions for system messages, by subtype; None means that the message is unknown."""


def _failure(memory: Memory, message: shapes.Result) -> tuple[Error | None, str]:
    """The error of a failed turn, even if the result reports a success, and the reason.

    0.15.10 reports an API failure only as the model's last text (its case api_401). If the model
    itself writes such a text, its tokens are counted.
    """
    error = message.error.message if message.error else None
    text = error if message.is_error else memory.last if memory.last == message.result else None
    failure = None if text is None else errors.api_error(text)
    if failure is None and message.is_error:
        return errors.own_error(error), "error"
    return failure, "api_error"


def _denial(memory: Memory, denied: shapes.Denied) -> Denial:
    name = denied.tool_name
    fix = tools.fix(name, memory.errors.get(denied.tool_use_id or "")) if name else None
    return Denial(tool_id=denied.tool_use_id, name=name, input=raw_copy(denied.tool_input), fix=fix)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
