"""The table of Qwen Code's message types, and the decoder built on it."""

from collections.abc import Mapping, Sequence

from rookery.agents.qwen import faults, shapes, talk, tools
from rookery.agents.qwen.fields import CHECKED_VERSIONS
from rookery.agents.qwen.memory import Memory
from rookery.core import salvage
from rookery.core.decoder import LineDecoder, Told
from rookery.core.drift import watch
from rookery.core.events import (
    Denial,
    Error,
    Event,
    McpServer,
    PermissionDenied,
    SessionStarted,
    Status,
    TaskFinished,
    TaskStarted,
    TaskUsage,
    TurnFinished,
    Unknown,
    UsageReported,
)
from rookery.core.lines import DEFAULT_CAP
from rookery.core.reader import Table, TableReader
from rookery.core.salvage import own
from rookery.core.tokens import fresh

_STATUSES: Mapping[str | None, Status] = {
    "completed": "ok",
    "failed": "error",
    "cancelled": "cancelled",
}
"""How a background task ended; in any other state it is still at work."""


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read the beginning of a turn, or what a background task does."""
    if message.subtype == "init":
        return _init(memory, message)
    task = message.data or shapes.TaskData()
    if message.subtype == "task_started" and task.task_id is not None:
        return _task_started(memory, task.task_id, task)
    if message.subtype == "task_notification" and task.task_id is not None:
        return _task_finished(memory, task.task_id, task)
    return (Unknown(name=f"system/{message.subtype}", raw=salvage.own(line)),)


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; the usage is that of the whole session, hidden calls included."""
    if message.is_error and not message.duration_ms and memory.in_subagent():
        # A subagent's failure has the form of a result, but the turn goes on (source of 0.15.10).
        told = message.error.message if message.error else None
        return (Error(kind="internal", message=told),)
    events = [*memory.begin_turn(), *memory.unfinished()]
    denials = tuple(_denial(denied) for denied in message.permission_denials or ())
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
                input=fresh(used.input_tokens, used.cache_read_input_tokens),
                output=used.output_tokens,
                cache_read=used.cache_read_input_tokens,
            )
        )
    failure = _failure(memory, message)
    if failure is not None:
        events.append(failure)
    good = failure is None and message.is_error is False and message.subtype == "success"
    events.append(
        TurnFinished(
            ok=good,
            text=message.result if good else None,
            reason=None if good else "error" if message.is_error else "api_error",
            errors=(failure.message,) if failure and failure.message else None,
            denials=denials or None,
            duration_s=_seconds(message.duration_ms),
            api_duration_s=_seconds(message.duration_api_ms),
            turns=message.num_turns,
            structured=own(message.structured_result),
        )
    )
    memory.end_turn()
    return events


_READERS: Table[Memory] = {
    shapes.Assistant: talk.assistant,
    shapes.User: talk.user,
    shapes.StreamEvent: talk.stream_event,
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

    def _system(self, memory: Memory, message: shapes.System, line: bytes) -> Told:
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


def _task_started(memory: Memory, id: str, task: shapes.TaskData) -> Sequence[Event]:
    if id in memory.tasks:
        return ()
    started = memory.tasks[id] = TaskStarted(
        id=id,
        kind="subagent" if task.subagent_type else "command",
        title=task.description,
        tool_id=task.tool_use_id,
        background=True,
    )
    return (started,)


def _task_finished(memory: Memory, id: str, task: shapes.TaskData) -> Sequence[Event]:
    status = _STATUSES.get(task.status)
    if status is None or id not in memory.tasks:
        return ()
    begun = memory.tasks.pop(id)
    used = task.usage
    return (
        TaskFinished(
            id=id,
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


def _failure(memory: Memory, message: shapes.Result) -> Error | None:
    """Why a turn failed, though the result may call it a success.

    A failure of the API is told as the model's last words (0.15.10 api_401). A model that merely
    says such words has its tokens counted.
    """
    told = message.error.message if message.error else None
    if message.is_error:
        return (faults.api_error(told) if told else None) or Error(kind="internal", message=told)
    if memory.last is None or memory.last != message.result:
        return None
    return faults.api_error(memory.last)


def _denial(denied: shapes.Denied) -> Denial:
    name = denied.tool_name
    fix = tools.fix(name) if name else None
    return Denial(tool_id=denied.tool_use_id, name=name, input=own(denied.tool_input), fix=fix)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
