"""Reads the lines of rollouts as events, with the functions that read Codex's streams."""

from collections.abc import Callable, Mapping, Sequence

from nightrook.adapter import salvage
from nightrook.adapter.reader import Table, silent_types
from nightrook.adapter.stored import note_time, transcript_decoder
from nightrook.adapter.usage import uncached
from nightrook.agents.codex import errors
from nightrook.agents.codex.reader import end_turn
from nightrook.agents.codex.transcript import calls, shapes
from nightrook.agents.codex.transcript.memory import RolloutMemory
from nightrook.agents.codex.transcript.shapes import Item, Payload, Tokens
from nightrook.model.events import (
    ContextCompacted,
    Event,
    ModelChanged,
    Notice,
    SessionStarted,
    TaskStarted,
    Text,
    Thinking,
    TurnFinished,
    Unknown,
    UsageReported,
    UserMessage,
)

_Read = Callable[[RolloutMemory, Payload], Sequence[Event]]


def _session(memory: RolloutMemory, meta: Payload) -> Sequence[Event]:
    """Read the session; a second `session_meta` is that of the thread it was forked from."""
    if memory.sessions or meta.id is None:
        return ()
    memory.sessions.add(meta.id)
    memory.thread = meta.id
    return (SessionStarted(session=meta.id, cwd=meta.cwd, version=meta.cli_version),)


def _context(memory: RolloutMemory, context: Payload) -> Sequence[Event]:
    before, memory.model = memory.model, context.model or memory.model
    if before is None or before == memory.model:
        return ()
    return (ModelChanged(before=before, after=memory.model),)


def _usage_record(memory: RolloutMemory, record: Payload) -> Sequence[Event]:
    memory.counts_requests = True
    return _usage(memory, record.usage, record.response_id)


def _usage(memory: RolloutMemory, used: Tokens | None, id: str | None) -> Sequence[Event]:
    if used is None or not (used.input_tokens or used.output_tokens):
        return ()
    read, written = used.cached_input_tokens, used.cache_write_input_tokens
    return (
        UsageReported(
            message_id=id or memory.next_request(),
            model=memory.model,
            scope="message",
            semantics="final",
            input=uncached(used.input_tokens, read, written),
            output=used.output_tokens,
            cache_read=read,
            cache_write_5m=written,
            reasoning=used.reasoning_output_tokens,
        ),
    )


def _token_count(memory: RolloutMemory, count: Payload) -> Sequence[Event]:
    """Read the tokens of a request in a rollout without records of them: totals that have grown."""
    info = count.info
    if memory.counts_requests or info is None or info.total_token_usage in (None, memory.total):
        return ()
    memory.total = info.total_token_usage
    return _usage(memory, info.last_token_usage, None)


def _prompt(memory: RolloutMemory, message: Payload) -> Sequence[Event]:
    return (UserMessage(text=message.message),) if message.message else ()


def _said(memory: RolloutMemory, message: Payload) -> Sequence[Event]:
    if memory.has_items or not message.message:
        return ()
    memory.last_text = message.message
    return (Text(id=memory.new_id("text"), text=message.message),)


def _thought(memory: RolloutMemory, message: Payload) -> Sequence[Event]:
    if memory.has_items or not message.text:
        return ()
    return (Thinking(id=memory.new_id("thinking"), text=message.text),)


def _turn_started(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return memory.begin_turn()


def _turn_ended(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    message = event.error.message if event.error else None
    text = event.last_agent_message or memory.last_text
    events = end_turn(memory, cut=message is None)
    if message is not None:
        events.append(errors.error(message))
    finished = TurnFinished(
        ok=message is None,
        text=text if message is None else None,
        errors=None if message is None else (message,),
        duration_s=None if event.duration_ms is None else event.duration_ms / 1000,
    )
    return [*events, finished]


def _turn_aborted(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    events = end_turn(memory, cut=False)
    return [*events, TurnFinished(ok=False, reason=event.reason or "interrupted")]


def _failed(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return (errors.error(event.message),) if event.message else ()


def _warned(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return (Notice(level="warning", text=event.message),) if event.message else ()


def _compacted(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return (ContextCompacted(),)


def _nothing(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return ()


def _item(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    item = event.item or Item()
    memory.has_items = True
    text = "".join(part.text or "" for part in item.content or ())
    if item.type == "UserMessage":
        return (UserMessage(text=text),) if text else ()
    if item.type == "AgentMessage":
        memory.last_text = text
        return (Text(id=item.id or memory.new_id("text"), text=text),) if text else ()
    if item.type == "Reasoning":
        thought = "\n\n".join(item.summary_text or ())
        return (Thinking(id=item.id or memory.new_id("thinking"), text=thought or None),)
    if item.type == "SubAgentActivity":
        return _subagent(memory, item)
    if item.type in _SILENT_ITEMS:
        return ()
    return calls.completed(memory, item)


_SILENT_ITEMS = ("Plan", "HookPrompt", "EnteredReviewMode", "ExitedReviewMode", "ContextCompaction")


def _subagent(memory: RolloutMemory, item: Item) -> Sequence[Event]:
    """Read that a subagent was started; it has a rollout of its own."""
    id = item.agent_thread_id
    if item.kind != "started" or id is None or id in memory.tasks:
        return ()
    task = memory.tasks[id] = TaskStarted(id=id, kind="subagent", tool_id=item.id, background=True)
    return (task,)


_EVENTS: Mapping[str, _Read] = {
    "item_completed": _item,
    "task_started": _turn_started,
    "task_complete": _turn_ended,
    "turn_aborted": _turn_aborted,
    "token_count": _token_count,
    "user_message": _prompt,
    "agent_message": _said,
    "agent_reasoning": _thought,
    "error": _failed,
    "stream_error": _warned,
    "warning": _warned,
    "context_compacted": _compacted,
    **dict.fromkeys(
        (
            *("thread_settings_applied", "agent_reasoning_raw_content", "exec_command_begin"),
            *("exec_command_end", "mcp_tool_call_begin", "mcp_tool_call_end", "turn_diff"),
            *("patch_apply_begin", "patch_apply_end", "web_search_begin", "web_search_end"),
            *("plan_update", "agent_reasoning_section_break", "background_event"),
            *("entered_review_mode", "exited_review_mode", "thread_rolled_back", "item_started"),
        ),
        _nothing,
    ),
}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_SILENT_RESPONSES = (
    *("message", "reasoning", "additional_tools", "agent_message", "web_search_call", "compaction"),
    *("ghost_snapshot", "tool_search_call", "tool_search_output", "image_generation_call"),
)
"""What events report as well, or what only the model is told."""


def _event(memory: RolloutMemory, line: shapes.EventMessage, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.timestamp)
    payload = line.payload or Payload()
    read = _EVENTS.get(payload.type)
    if read is None:
        return (Unknown(name=f"event_msg/{payload.type}", raw=salvage.raw_copy(raw)),)
    return read(memory, payload)


def _response(memory: RolloutMemory, line: shapes.ResponseItem, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.timestamp)
    payload = line.payload or Payload()
    if payload.type in _CALLS:
        return calls.started(memory, payload)
    if payload.type in _RESULTS:
        return calls.returned(memory, payload)
    if payload.type in _SILENT_RESPONSES:
        return ()
    return (Unknown(name=f"response_item/{payload.type}", raw=salvage.raw_copy(raw)),)


def _of(read: _Read) -> Callable[[RolloutMemory, shapes.Line, bytes], Sequence[Event]]:
    def read_line(memory: RolloutMemory, line: shapes.Line, raw: bytes) -> Sequence[Event]:
        note_time(memory, line.timestamp)
        return read(memory, line.payload or Payload())

    return read_line


_TABLE: Table[RolloutMemory] = {
    shapes.SessionMeta: _of(_session),
    shapes.TurnContext: _of(_context),
    shapes.UsageRecord: _of(_usage_record),
    shapes.Compacted: _of(_compacted),
    shapes.EventMessage: _event,
    shapes.ResponseItem: _response,
    **silent_types(("world_state", "inter_agent_communication_metadata")),
}

decoder = transcript_decoder("codex", _TABLE, RolloutMemory)
"""Returns a decoder for one rollout of Codex."""
