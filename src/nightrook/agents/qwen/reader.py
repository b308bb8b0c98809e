"""The table of the lines that Qwen Code writes, and the decoders made of it.

`adapter.stream_json` reads most messages of the stream; what only Qwen Code does is here. Stored
lines are read by `sessions`.
"""

from collections.abc import Callable, Mapping, Sequence

from nightrook.adapter import stream_json
from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.drift import watch
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.oversized import Shortened
from nightrook.adapter.reader import Row, TableReader, stream_of, union_of
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.stored import Stored
from nightrook.adapter.stream_json import (
    Assistant,
    Block,
    Counters,
    Message,
    User,
    session_started,
    usage_of,
)
from nightrook.adapter.usage import reported
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.agents.qwen import errors, sessions, shapes, tools
from nightrook.model.events import (
    Denial,
    Error,
    Event,
    ModelChanged,
    Notice,
    PermissionDenied,
    Retrying,
    Status,
    TaskFinished,
    TaskStarted,
    TaskUsage,
    ToolProgress,
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
"""The statuses of ended background tasks; in any other state, a task is still running."""


class Memory(stream_json.Memory):
    """The state of reading one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["qwen"])
        self.last: str | None = None  # the main agent's last text, if its tokens were not counted
        self.denied: set[str | None] = set()  # calls whose denial was reported in this turn
        self.errors: dict[str, str] = {}  # the errors of this turn's failed calls
        self.fallback: str | None = None  # the model that answers this request instead
        self.retrying = False  # whether a retry was reported and no text followed yet

    def end_turn(self) -> None:
        """Close the turn; a stream with prompts on stdin may have another."""
        super().end_turn()
        self.last = None
        self.fallback = None
        self.retrying = False
        self.denied.clear()
        self.errors.clear()

    def in_subagent(self) -> bool:
        """True if a subagent is running."""
        return any(tool.kind == "subagent" for tool in self.tools.values())


class Qwen(stream_json.StreamJson):
    """The reader of Qwen Code's messages between model and tools."""

    repeats_prompts = False

    def __init__(self) -> None:
        super().__init__(tools.TOOLS)
        self.parts[shapes.GoalState] = _no_piece
        self.parts[shapes.ToolProgress] = _tool_progress

    def uncounted(self, memory: Memory, message: Message) -> None:
        """Remember the last text of an answer without tokens: it may be a failure of the API."""
        memory.retrying = False
        last = message.content[-1] if message.content else None
        memory.last = last.text if last is not None and last.type == "text" else None

    def message_start(self, memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
        """Read the start of an answer."""
        if parent is None:
            memory.retrying = False
        return super().message_start(memory, parent, part)

    def usage(
        self, memory: Memory, message: Message, used: Counters, parent: str | None
    ) -> UsageReported:
        """Report the tokens of an answer, with the model that gave it."""
        if parent is None:
            memory.retrying, memory.last = False, None
            if memory.fallback is not None:
                # The message names the model that was tried first (0.24.4 model_fallback).
                message.model, memory.fallback = memory.fallback, None
        return super().usage(memory, message, used, parent)

    def start(self, memory: Memory, block: Block, parent: str | None) -> Sequence[Event]:
        """Read a call; a deferred one names the tool in its input."""
        id, name, input = block.id or memory.new_id("call"), block.name or "tool", block.input
        if name == tools.DEFERRED:
            name, input = tools.deferred(input)
        kind, title, subagent = tools.TOOLS.kinds.get(name), None, None
        if kind == "ask":
            title = tools.question(input)
        elif kind == "subagent":
            subagent = tools.subagent(input)
        return memory.start(
            tools.TOOLS.started(id, name, input, title=title, subagent=subagent, parent=parent)
        )

    def finish(self, memory: Memory, block: Block, parent: str | None) -> Sequence[Event]:
        """Read a result; that of a failed command may lack is_error (0.15.10 shell_fail)."""
        id = block.tool_use_id or memory.new_id("call")
        if id in memory.ended:
            return ()
        call = memory.tools.get(id)
        output, code, failed = block.content, None, block.is_error is not False
        if output is not None and call is not None and call.kind == "execute":
            output, code = tools.shell(output, failed=failed)
            failed = failed or bool(code)
        status: Status = tools.failure(block.content) if failed else "ok"
        if block.is_error and block.content:
            memory.errors[id] = block.content
        if status == "denied":
            memory.denied.add(id)
        events = memory.finish(
            id,
            status,
            output=output,
            error=output if failed else None,
            exit_code=code,
            fix=tools.fix(call.name, block.content) if status == "denied" and call else None,
            parent=parent,
        )
        if not failed and call is not None and call.kind in tools.CHANGING:
            events += tools.changes(call.name, id, call.input, block.content)
        return events


def _tool_progress(
    memory: Memory, parent: str | None, part: shapes.ToolProgress
) -> Sequence[Event]:
    if part.tool_use_id is None:
        return ()
    progress = part.content or shapes.Progress()
    elapsed = None if progress.elapsedMs is None else progress.elapsedMs / 1000
    return (ToolProgress(id=part.tool_use_id, elapsed_s=elapsed, output=progress.message),)


def _no_piece(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    return ()


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
        events.append(reported(usage_of(used), scope="session", semantics="cumulative"))
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


def _init(memory: Memory, message: shapes.System) -> Sequence[Event]:
    started = session_started(memory, message, version=message.qwen_code_version)
    return [*started, *memory.begin_turn()]


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


_QWEN = Qwen()

TABLE = (
    Row(Assistant, _QWEN.assistant),
    Row(User, _QWEN.user),
    Row(shapes.StreamEvent, _QWEN.stream_event),
    Row(shapes.System, system),
    Row(shapes.Result, result),
    Row(shapes.StoredUser, sessions.user, "stored", (b'"type":"user"',)),
    Row(shapes.StoredAssistant, sessions.assistant, "stored"),
    Row(shapes.CountedAnswer, sessions.counted_answer, "ledger", (b'"usageMetadata"',)),
    Row(shapes.StoredToolResult, sessions.tool_result, "stored"),
    Row(
        shapes.StoredSystem,
        sessions.system,
        "stored",
        (b'"qwen-code.api_response"', b'"custom_title"'),
    ),
)
_STREAM = stream_of(TABLE)
_SHAPES = union_of(_STREAM)


class QwenReader(TableReader):
    """Turns Qwen Code's messages into events.

    While an unchecked version writes, the first messages of each type are checked for unknown
    fields.
    """

    def __init__(self) -> None:
        super().__init__(Memory(), {**_STREAM, shapes.System: self._system}, looked_at=0)

    def _system(self, memory: Memory, message: shapes.System, line: bytes) -> Events:
        if message.subtype == "init" and message.qwen_code_version not in CHECKED_VERSIONS:
            self.functions[shapes.System] = system
            watch(self.functions, self.drift)
            return self.functions[shapes.System](memory, message, line)
        return system(memory, message, line)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of Qwen Code."""
    return LineDecoder("qwen", _SHAPES, QwenReader(), cap=cap)


STORED = Stored(
    "qwen",
    TABLE,
    sessions.Memory,
    facts=sessions.Facts,
    begin=sessions.begin,
    time="timestamp",
)
"""Reads stored sessions."""
