"""The table of Qwen Code's message types, and the decoder built on it."""

from collections.abc import Callable, Mapping, Sequence

from rookery.adapter.decoder import Events, LineDecoder
from rookery.adapter.drift import watch
from rookery.adapter.lines import DEFAULT_CAP
from rookery.adapter.reader import Table, TableReader
from rookery.adapter.salvage import raw_copy
from rookery.adapter.tokens import uncached
from rookery.agents.qwen import errors, messages, shapes, tools
from rookery.agents.qwen.fields import CHECKED_VERSIONS
from rookery.agents.qwen.memory import Memory
from rookery.model.events import (
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

_STATUSES: Mapping[str | None, Status] = {
    "completed": "ok",
    "failed": "error",
    "cancelled": "cancelled",
}
"""How a background task ended; in any other state it is still at work."""


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read the beginning of a turn, what a background task does, or what the program tells."""
    read = _SYSTEM.get(message.subtype)
    told = None if read is None else read(memory, message)
    return (
        (Unknown(name=f"system/{message.subtype}", raw=raw_copy(line)),) if told is None else told
    )


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; the usage is that of the whole session, hidden calls included."""
    if message.is_error and not message.duration_ms and memory.in_subagent():
        # A subagent's failure has the form of a result, but the turn goes on (source of 0.15.10).
        told = message.error.message if message.error else None
        return (Error(kind="internal", message=told),)
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
    good = failure is None and message.is_error is False and message.subtype == "success"
    events.append(
        TurnFinished(
            ok=good,
            text=message.result if good else None,
            reason=None if good else reason,
            errors=(failure.message,) if failure and failure.message else None,
            denials=denials or None,
            duration_s=_seconds(message.duration_ms),
            api_duration_s=_seconds(message.duration_api_ms),
            turns=message.num_turns,
            structured=raw_copy(message.structured_result),
        )
    )
    memory.end_turn()
    return events


_READERS: Table[Memory] = {
    shapes.Assistant: messages.assistant,
    shapes.User: messages.user,
    shapes.StreamEvent: messages.stream_event,
    shapes.System: system,
    shapes.Result: result,
}


class QwenReader(TableReader):
    """Turns Qwen Code's messages into events.

    While an unchecked version writes, the first messages of each type are looked at for fields
    that nobody knows.
    """

    def __init__(self) -> None:
        super().__init__(Memory(), {**_READERS, shapes.System: self._system}, looked_at=0)

    def _system(self, memory: Memory, message: shapes.System, line: bytes) -> Events:
        if message.subtype == "init" and message.qwen_code_version not in CHECKED_VERSIONS:
            self.functions[shapes.System] = system
            watch(self.functions, self.drift)
            return self.functions[shapes.System](memory, message, line)
        return system(memory, message, line)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Make a decoder for one stream of Qwen Code."""
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
    begun = memory.tasks.pop(task.task_id)
    used = task.usage
    return (
        TaskFinished(
            id=begun.id,
            status=status,
            kind=begun.kind,
            title=begun.title,
            tool_id=begun.tool_id,
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
    """Read that a request is made again; of what was said in vain, each part was told as whole."""
    told = message.data or shapes.SystemData()
    if told.reason == "model_fallback":
        return ()  # the next message tells it, and which model it is
    # Many a retry is told twice, when it is decided and when it is made (0.24.4 cut_close).
    if memory.retrying and told.attempt is None and not told.preserveText:
        return ()
    memory.retrying = True
    return (
        Retrying(
            attempt=told.attempt, max_attempts=told.maxRetries, delay_s=_seconds(told.delayMs)
        ),
    )


def _model_fallback(memory: Memory, message: shapes.System) -> Sequence[Event]:
    told = message.data or shapes.SystemData()
    memory.fallback = told.toModel
    reason = None if told.statusCode is None else f"HTTP {told.statusCode}"
    return (ModelChanged(before=told.fromModel, after=told.toModel, reason=reason),)


def _worktree_restored(memory: Memory, message: shapes.System) -> Sequence[Event]:
    path = message.data.path if message.data else None
    return (Notice(level="info", text=f"it goes on in the worktree {path}"),) if path else ()


def _news(memory: Memory, message: shapes.System) -> Sequence[Event]:
    text = message.data.notice if message.data else None
    return (Notice(level="info", text=text),) if text else ()


def _warning(memory: Memory, message: shapes.System) -> Sequence[Event]:
    told = message.data or shapes.SystemData()
    text = told.notice or told.message or told.error
    return (Notice(level="warning", text=text),) if text else ()


_SYSTEM: Mapping[str | None, Callable[[Memory, shapes.System], Sequence[Event] | None]] = {
    "init": _init,
    "task_started": _task_started,
    "task_notification": _task_finished,
    "retry": _retry,
    "model_fallback": _model_fallback,
    "worktree_started": _news,
    "worktree_restored": _worktree_restored,
    "vision_routing": _news,
    "vision_bridge": _news,
    "vision_bridge_failed": _warning,
    "session_recording_degraded": _warning,
    "continue_turn_failed": _warning,
}
"""Readers of system messages, by subtype; what gives None is nothing that anybody knows."""


def _failure(memory: Memory, message: shapes.Result) -> tuple[Error | None, str]:
    """Why a turn failed, though the result may call it a success.

    0.15.10 tells a failure of the API only as the model's last words (its case api_401). A model
    that merely says such words has its tokens counted.
    """
    told = message.error.message if message.error else None
    said = told if message.is_error else memory.last if memory.last == message.result else None
    failure = None if said is None else errors.api_error(said)
    if failure is None and message.is_error:
        return Error(kind="internal", message=told), "error"
    return failure, "api_error"


def _denial(memory: Memory, denied: shapes.Denied) -> Denial:
    name = denied.tool_name
    fix = tools.fix(name, memory.errors.get(denied.tool_use_id or "")) if name else None
    return Denial(tool_id=denied.tool_use_id, name=name, input=raw_copy(denied.tool_input), fix=fix)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
