"""The table of the app server's messages, and the decoder built on it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.drift import ALWAYS_LOOKED_AT, type_name, watch
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import Read, Table, TableReader, no_events, silent_types, union_of
from nightrook.adapter.usage import reported
from nightrook.agents.codex import errors, items, tools
from nightrook.agents.codex.app_server import shapes
from nightrook.agents.codex.memory import RpcMemory as Memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    LimitReported,
    ModelChanged,
    Notice,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    Retrying,
    SessionStarted,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    Unknown,
)
from nightrook.model.text import one_line

_BETWEEN_PARTS = "\n\n"
_LONGEST_GOAL = 200
_STEPS: Mapping[str | None, str] = {
    "pending": "pending",
    "inProgress": "in_progress",
    "completed": "completed",
}
_TOOLS: Mapping[str | None, str] = {
    "spawnAgent": "spawn_agent",
    "sendInput": "send_input",
    "resumeAgent": "resume_agent",
    "closeAgent": "close_agent",
}
"""The names of the tools for subagents in `exec --json`."""


def response(memory: Memory, message: shapes.Response, line: bytes) -> Sequence[Event]:
    """Read the response to a request of ours; an error before the first turn ends the run."""
    if message.error is not None:
        error = Error(kind="config", message=message.error.message, retryable=False)
        if memory.in_turn or memory.results:
            return (error,)
        messages = (error.message,) if error.message else None
        return (*items.end_turn(memory, cut=False), error, TurnFinished(ok=False, errors=messages))
    return _session(memory, message.result.thread if message.result else None)


def thread_started(memory: Memory, message: shapes.ThreadStarted, line: bytes) -> Sequence[Event]:
    """Read the start of a thread, usually known from a response; subagents have threads, too."""
    thread = message.params.thread
    return _session(memory, thread) if memory.thread is None else ()


def _session(memory: Memory, thread: shapes.Thread | None) -> Sequence[Event]:
    if thread is None or thread.id is None or thread.id in memory.sessions:
        return ()
    memory.sessions.add(thread.id)
    memory.thread = thread.id
    return (
        SessionStarted(
            session=thread.id, model=thread.model, cwd=thread.cwd, version=thread.cli_version
        ),
    )


def turn_started(memory: Memory, message: shapes.TurnStarted, line: bytes) -> Sequence[Event]:
    """Read the start of a turn."""
    return memory.begin_turn()


def turn_completed(memory: Memory, message: shapes.TurnCompleted, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; the reason of a failure was usually reported before."""
    turn = message.params.turn or shapes.Turn()
    ok = turn.status == "completed"
    failure, text = memory.failure, memory.last_text
    events = items.end_turn(memory, cut=ok)
    message_text = turn.error.message if turn.error else None
    error = None if message_text is None else errors.error(message_text)
    if error is not None and message_text != failure:
        events.append(error)
    if ok and memory.goal is not None:  # guards: goal-not-reached
        return [*events, TurnFinished(ok=False, text=text, reason="paused", errors=(memory.goal,))]
    finished = TurnFinished(
        ok=ok,
        text=text if ok else None,
        reason="interrupted" if turn.status == "interrupted" else None,
        errors=(error.message,) if error and error.message else None,
        duration_s=None if turn.duration_ms is None else turn.duration_ms / 1000,
    )
    return [*events, finished]


def message_delta(memory: Memory, message: shapes.MessageDelta, line: bytes) -> Events:
    """Read a piece of a text."""
    params = message.params
    return TextDelta(id=params.item_id or "", text=params.delta) if params.delta else ()


def summary_delta(memory: Memory, message: shapes.SummaryDelta, line: bytes) -> Events:
    """Read a piece of the summary of a thought."""
    params = message.params
    return ThinkingDelta(id=params.item_id or "", text=params.delta) if params.delta else ()


def summary_part(memory: Memory, message: shapes.SummaryPart, line: bytes) -> Events:
    """Read the start of another part of such a summary."""
    params = message.params
    if not params.summary_index:
        return ()
    return ThinkingDelta(id=params.item_id or "", text=_BETWEEN_PARTS)


def output_delta(memory: Memory, message: shapes.OutputDelta, line: bytes) -> Events:
    """Read output of a running command."""
    params = message.params
    if params.item_id not in memory.tools:
        return ()
    return ToolProgress(id=params.item_id or "", output=params.delta)


def plan_updated(memory: Memory, message: shapes.PlanUpdated, line: bytes) -> Events:
    """Read the whole plan."""
    plan = tuple(
        PlanItem(text=step.step or "", status=_STEPS.get(step.status, step.status))
        for step in message.params.plan or ()
    )
    if plan == memory.plan:
        return ()
    memory.plan = plan
    return PlanChanged(items=plan)


def goal_updated(memory: Memory, message: shapes.GoalUpdated, line: bytes) -> Events:
    """Note a goal that is not reached: the turn that ends then has not done the work."""
    goal = message.params.goal
    if goal is None or goal.status in (None, "complete"):
        memory.goal = None
        return ()
    objective = one_line(goal.objective or "", _LONGEST_GOAL)
    memory.goal = f"the goal is still {goal.status}: {objective}"
    return ()


def goal_cleared(memory: Memory, message: shapes.GoalCleared, line: bytes) -> Events:
    """Note that there is no goal any more."""
    memory.goal = None
    return ()


def usage_updated(memory: Memory, message: shapes.UsageUpdated, line: bytes) -> Events:
    """Read the tokens of a request, ours or a subagent's.

    Counts are repeated when a thread is resumed, and when its context is compacted.
    """
    usage = message.params.token_usage or shapes.TokenUsage()
    thread, last = message.params.thread_id, usage.last
    before = memory.totals.get(thread)
    memory.totals[thread] = usage.total
    if last is None or not memory.in_turn or (usage.total is not None and usage.total == before):
        return ()
    task = None if memory.is_ours(thread) else memory.tasks.get(thread or "")
    parent = task.tool_id if task else None
    return reported(items.usage_of(last), message_id=memory.next_request(), parent=parent)


def limits_updated(memory: Memory, message: shapes.LimitsUpdated, line: bytes) -> Events:
    """Read the used part of the provider's limits."""
    limits = message.params.rate_limits or shapes.RateLimits()
    rejected = limits.rate_limit_reached_type is not None
    return [
        LimitReported(
            window=_window(window, name),
            status="rejected" if rejected and (window.used_percent or 0) >= 100 else "allowed",
            used=None if window.used_percent is None else window.used_percent / 100,
            resets_at=None if window.resets_at is None else float(window.resets_at),
        )
        for name, window in (("primary", limits.primary), ("secondary", limits.secondary))
        if window is not None
    ]


def _window(window: shapes.Window, name: str) -> str:
    minutes = window.window_duration_mins
    if not minutes:
        return name
    units = ((1440, "day"), (60, "hour"), (1, "minute"))
    size, unit = next((size, unit) for size, unit in units if minutes % size == 0)
    return f"{minutes // size} {unit}{'s' if minutes > size else ''}"


def error_reported(memory: Memory, message: shapes.ErrorReported, line: bytes) -> Events:
    """Read an error, or the notice of a retry."""
    error = message.params.error or shapes.ErrorDetail()
    text = error.message or ""
    if message.params.will_retry:
        retry = errors.retry(text) or Retrying()
        return msgspec.structs.replace(retry, reason=error.additional_details or retry.reason)
    memory.failure = text
    return errors.error(text)


def model_rerouted(memory: Memory, message: shapes.ModelRerouted, line: bytes) -> Events:
    """Read a change of the model."""
    params = message.params
    return ModelChanged(before=params.from_model, after=params.to_model, reason=params.reason)


def command_approval(memory: Memory, message: shapes.CommandApproval, line: bytes) -> Events:
    """Read a request to approve a command."""
    return _asked(memory, message, tools.SHELL)


def file_approval(memory: Memory, message: shapes.FileApproval, line: bytes) -> Events:
    """Read a request to approve a change to files."""
    return _asked(memory, message, tools.PATCH)


def _asked(memory: Memory, message: Any, name: str) -> Event:
    started = memory.tools.get(message.params.item_id)
    return PermissionRequested(
        id=None if message.id is None else str(message.id),
        tool_id=message.params.item_id,
        name=name,
        input=started.input if started else None,
        reason=message.params.reason,
    )


def other_request(memory: Memory, message: Any, line: bytes) -> Events:
    """Read a request that cannot be answered here and will be refused."""
    name = str(type(message).__struct_config__.tag)
    return PermissionRequested(id=None if message.id is None else str(message.id), name=name)


def warning(memory: Memory, message: Any, line: bytes) -> Events:
    """Read a warning for the user."""
    text = message.params.summary or message.params.message
    return Notice(level="warning", text=text) if text else ()


def mcp_startup(memory: Memory, message: shapes.McpStartup, line: bytes) -> Events:
    """Read the status of an MCP server; only a failure is an event."""
    params = message.params
    if params.status != "failed":
        return ()
    reason = f": {params.error}" if params.error else ""
    return Notice(level="warning", text=f"MCP server {params.name} did not start{reason}")


def reasoning(memory: Memory, item: shapes.Reasoning, line: bytes) -> Events:
    """Read the complete summary of a thought, if there is one."""
    text = _BETWEEN_PARTS.join(item.summary or ())
    return Thinking(id=memory.item(item.id), text=text) if text else ()


def image_started(memory: Memory, item: shapes.ImageView, line: bytes) -> Events:
    """Read the start of a look at an image."""
    id = memory.item(item.id)
    return memory.start(ToolStarted(id=id, name=tools.IMAGE, kind="read", title=item.path))


def image_completed(memory: Memory, item: shapes.ImageView, line: bytes) -> Events:
    """Read the end of such a look, which has no status."""
    return memory.finish(memory.item(item.id), "ok", name=tools.IMAGE, kind="read")


def compaction(memory: Memory, item: shapes.ContextCompaction, line: bytes) -> Events:
    """Read the replacement of the conversation by a summary."""
    return ContextCompacted()


def _collab(read: Read[Memory]) -> Read[Memory]:
    """Return a function that reads calls of subagent tools under their names in `exec --json`."""

    def renamed(memory: Memory, item: shapes.CollabToolCall, line: bytes) -> Events:
        item.tool = _TOOLS.get(item.tool, item.tool)
        return read(memory, item, line)

    return renamed


_STARTED: Table[Memory] = {
    shapes.UserMessage: no_events,
    shapes.AgentMessage: no_events,
    shapes.Reasoning: no_events,
    shapes.CommandExecution: items.command_started,
    shapes.FileChange: items.patch_started,
    shapes.McpToolCall: items.mcp_started,
    shapes.WebSearch: items.search_started,
    shapes.CollabToolCall: _collab(items.collab_started),
    shapes.ImageView: image_started,
    shapes.ContextCompaction: no_events,
}
_COMPLETED: Table[Memory] = {
    shapes.UserMessage: no_events,
    shapes.AgentMessage: items.agent_message,
    shapes.Reasoning: reasoning,
    shapes.CommandExecution: items.command_completed,
    shapes.FileChange: items.diffs_completed,
    shapes.McpToolCall: items.mcp_completed,
    shapes.WebSearch: items.search_completed,
    shapes.CollabToolCall: _collab(items.collab_completed),
    shapes.ImageView: image_completed,
    shapes.ContextCompaction: compaction,
}


def _item(method: str, readers: Table[Memory]) -> Read[Memory]:
    """Return a function that reads messages with an item."""

    def read(memory: Memory, message: Any, line: bytes) -> Events:
        item = message.params.item
        if item is None:
            return Unknown(name=method, raw=salvage.raw_copy(line))
        return readers[type(item)](memory, item, line)

    return read


def _of_ours(read: Read[Memory]) -> Read[Memory]:
    """Return a function that reads only messages about our thread, not those of subagents."""

    def ours(memory: Memory, message: Any, line: bytes) -> Events:
        thread = message.params.thread_id
        if thread == memory.thread or memory.is_ours(thread):
            return read(memory, message, line)
        return ()

    return ours


_OURS: Table[Memory] = {
    shapes.TurnStarted: turn_started,
    shapes.TurnCompleted: turn_completed,
    shapes.MessageDelta: message_delta,
    shapes.SummaryDelta: summary_delta,
    shapes.SummaryPart: summary_part,
    shapes.OutputDelta: output_delta,
    shapes.PlanUpdated: plan_updated,
    shapes.GoalUpdated: goal_updated,
    shapes.GoalCleared: goal_cleared,
    shapes.ErrorReported: error_reported,
    shapes.ModelRerouted: model_rerouted,
}
_ITEM_READERS = {shapes.ItemStarted: _STARTED, shapes.ItemCompleted: _COMPLETED}
_READERS: Table[Memory] = {
    **silent_types(shapes.SILENT, tag_field="method"),
    **{shape: _of_ours(read) for shape, read in _OURS.items()},
    shapes.ThreadStarted: thread_started,
    shapes.UsageUpdated: usage_updated,
    shapes.LimitsUpdated: limits_updated,
    shapes.CommandApproval: command_approval,
    shapes.FileApproval: file_approval,
    shapes.PermissionsRequest: other_request,
    shapes.UserInputRequest: other_request,
    shapes.ElicitationRequest: other_request,
    shapes.ToolRequest: other_request,
    shapes.TokensRequest: other_request,
    shapes.AttestationRequest: other_request,
    shapes.ConfigWarning: warning,
    shapes.Warning: warning,
    shapes.DeprecationNotice: warning,
    shapes.McpStartup: mcp_startup,
}
_SHAPES = union_of([*_READERS, *_ITEM_READERS])


class AppServerReader(TableReader):
    """Turns the app server's messages into events."""

    def __init__(self) -> None:
        super().__init__(
            Memory(KNOWN_FIELDS["codex/app_server"]), {**_READERS, shapes.Response: response}
        )
        for shape, readers in _ITEM_READERS.items():
            method, watched = type_name(shape), dict(readers)
            watch(watched, self.drift, most=ALWAYS_LOOKED_AT, within=f"{method}/")
            self.functions[shape] = _of_ours(_item(method, watched))

    def type_of(self, message: Any) -> str:
        """The message's method, with the type of its item."""
        type, params = super().type_of(message), getattr(message, "params", None)
        item = getattr(params, "item", None)
        return type if item is None else f"{type}/{super().type_of(item)}"


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of `codex app-server`."""
    reader = AppServerReader()
    return LineDecoder("codex", _SHAPES, reader, untagged=shapes.Response, cap=cap)
