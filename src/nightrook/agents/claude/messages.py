"""Reads the messages between model and tools: assistant, user and partial messages."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import split_mcp
from nightrook.agents.claude import shapes, tools
from nightrook.agents.claude.errors import api_error
from nightrook.agents.claude.memory import ApiMessage, Memory, OpenBlock
from nightrook.agents.claude.shapes import UseResult
from nightrook.agents.claude.tools import text_of
from nightrook.agents.claude.usage import of_message
from nightrook.model.events import (
    Event,
    ModeChanged,
    Notice,
    PermissionDenied,
    PlanChanged,
    Status,
    TaskFinished,
    TaskStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolProgress,
    ToolStarted,
    Unknown,
    UserMessage,
)

_SYNTHETIC = "<synthetic>"  # the model of messages that Claude Code itself writes
_ALL_ALLOWED = "bypassPermissions"  # the mode in which only hooks and deny rules refuse
_INTERRUPTS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
_COMMAND_OUTPUT = re.compile(r"<local-command-(stdout|stderr)>(.*)</local-command-\1>", re.DOTALL)
_BLOCK_TYPES: Mapping[type, str] = {
    shapes.TextDelta: "text",
    shapes.ThinkingDelta: "thinking",
    shapes.InputDelta: "tool_use",
}


def assistant(memory: Memory, message: shapes.Assistant, line: bytes) -> Sequence[Event]:
    """Read one line of a model message: usually one content block, and the usage so far."""
    inner = message.message
    if inner is None:
        return ()
    parent = message.parent_tool_use_id
    events: list[Event] = []
    if parent is None and not memory.open_turns:
        events += memory.begin_turn()
    if message.error is not None:
        events += api_error(message, limited=memory.limited)
        memory.error_reported = True
        return events
    whole = memory.message(inner.id)
    streaming = memory.streaming.get(parent)
    if streaming is not None and streaming is not whole:
        streaming.superseded = True  # its end was lost (2.1.197 s07b_partial_retry_midstream)
        events += memory.drop_calls("cancelled", parent=parent)
    if isinstance(inner.content, str):
        id = whole.whole("text", inner.content)
        whole.measure(inner.content)
        events.append(Text(id=id, text=inner.content, parent=parent))
    else:
        events += _blocks(memory, whole, inner.content or (), parent, line)
    if inner.model == _SYNTHETIC:
        memory.signs.command_output = text_of(inner.content) or ""
        return events
    if inner.usage is not None:
        events += _usage(memory, whole, inner, parent)
    if parent is None:
        memory.signs.last_message = whole
    memory.stop(whole, inner.stop_reason, main=parent is None)
    return events


def user(memory: Memory, message: shapes.User, line: bytes) -> Sequence[Event]:
    """Read a line of tool results, or of text for the model."""
    content = message.message.content if message.message else None
    if isinstance(content, str):
        return _user_text(memory, message, content)
    for meta in message.tool_result_meta or ():
        if meta.id and meta.permission_decision and meta.permission_decision.decision:
            rejected = meta.permission_decision.decision == "reject"
            memory.decide(meta.id, rejected=rejected)
    result = message.tool_use_result
    result = result if isinstance(result, UseResult) else None
    events: list[Event] = []
    unknown: str | None = None
    for block in content or ():
        if block.type == "tool_result":
            events += _finish(memory, block, result, message.parent_tool_use_id)
        elif block.type == "text":
            events += _user_text(memory, message, block.text or "")
        elif block.type not in ("image", "document"):
            unknown = block.type
    if unknown is not None:
        events.append(Unknown(name=f"user/{unknown}", raw=salvage.raw_copy(line)))
    return events


def tool_result(memory: Memory, message: shapes.ToolResult, line: bytes) -> Sequence[Event]:
    """Read a tool result in a separate message, as the oldest samples have it."""
    return _finish(memory, message, None, message.parent_tool_use_id)


def tool_progress(memory: Memory, message: shapes.ToolProgress, line: bytes) -> Sequence[Event]:
    """Read a sign of progress; a heartbeat names the call as its parent (2.1.325, long Bash)."""
    id = message.parent_tool_use_id if message.heartbeat else message.tool_use_id
    if id is None:
        return ()
    return (ToolProgress(id=id, elapsed_s=message.elapsed_time_seconds),)


def stream_event(memory: Memory, message: shapes.StreamEvent, line: bytes) -> Events:
    """Read a piece of an unfinished message."""
    part, parent = message.event, message.parent_tool_use_id
    if type(part) is not shapes.BlockDelta:
        read = _PARTS.get(type(part))
        if read is None:
            return (Unknown(name="stream_event", raw=salvage.raw_copy(line)),)
        return read(memory, parent, part)
    delta = part.delta
    try:
        block = memory.streaming[parent].open[part.index]
    except KeyError:  # the recording starts in the middle of a message
        block = _open(memory, parent, part.index, _BLOCK_TYPES.get(type(delta), ""), None)
    if type(delta) is shapes.TextDelta:
        text = delta.text
        block.pieces.append(text)
        return TextDelta(id=block.id, text=text, parent=parent)
    if type(delta) is shapes.ThinkingDelta:
        text = delta.thinking
        block.pieces.append(text)
        return ThinkingDelta(id=block.id, text=text, parent=parent)
    if type(delta) is shapes.InputDelta:
        return ToolInputDelta(id=block.tool_id or block.id, json=delta.partial_json)
    if delta is None:
        return (Unknown(name="stream_event/content_block_delta", raw=salvage.raw_copy(line)),)
    return ()


def _message_start(
    memory: Memory, parent: str | None, part: shapes.MessageStart
) -> Sequence[Event]:
    # Its content may already contain text (1.0, 2.0): the deltas and the whole line repeat it.
    first = part.message or shapes.Message()
    whole = memory.streaming[parent] = memory.message(first.id)
    events = memory.drop_calls("cancelled", parent=parent)
    if parent is None and not memory.open_turns:
        events += memory.begin_turn()
    if first.usage is not None:
        events += _usage(memory, whole, first, parent)
    if parent is None:
        memory.signs.last_message = whole
    return events


def _message_delta(
    memory: Memory, parent: str | None, part: shapes.MessageDelta
) -> Sequence[Event]:
    whole = memory.streaming.get(parent)
    if whole is None:
        return ()
    stop_reason = part.delta.stop_reason if part.delta else None
    events: Sequence[Event] = ()
    if part.usage is not None:
        model = whole.usage.model if whole.usage else None
        final = shapes.Message(id=whole.id, model=model, stop_reason=stop_reason, usage=part.usage)
        events = _usage(memory, whole, final, parent)
    memory.stop(whole, stop_reason, main=parent is None)
    return events


def _block_start(memory: Memory, parent: str | None, part: shapes.BlockStart) -> Sequence[Event]:
    block = part.content_block or shapes.Block()
    opened = _open(memory, parent, part.index, block.type, block.id)
    if block.type == "thinking":
        return (ThinkingDelta(id=opened.id, text="", parent=parent),)
    id, name = block.id, block.name or ""
    if id is None or not block.type.endswith("tool_use") or name in tools.PLAN_MODE:
        return ()
    if memory.has_started(id):
        return ()
    return memory.announce(_started(memory, id, name, parent, NOTHING))


def _message_stop(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    # Open blocks were abandoned: no complete block follows their pieces (2.1.325 s07b, s23a).
    whole = memory.streaming.pop(parent, None)
    if whole is not None:
        whole.open.clear()
    return ()


def _nothing(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    return ()


_PARTS: Mapping[type, Callable[[Memory, str | None, Any], Sequence[Event]]] = {
    shapes.MessageStart: _message_start,
    shapes.MessageDelta: _message_delta,
    shapes.MessageStop: _message_stop,
    shapes.BlockStart: _block_start,
    shapes.BlockStop: _nothing,
    shapes.Ping: _nothing,
}


def _open(
    memory: Memory, parent: str | None, index: int, type: str, tool_id: str | None
) -> OpenBlock:
    whole = memory.streaming.get(parent)
    if whole is None:
        whole = memory.streaming[parent] = memory.message(None)
    block = whole.open[index] = OpenBlock(f"{whole.id}:{index}", type, tool_id, [])
    return block


def _usage(
    memory: Memory, whole: ApiMessage, message: shapes.Message, parent: str | None
) -> Sequence[Event]:
    """Report a message's usage, unless its line before had the same."""
    if message.usage == whole.last_usage and message.stop_reason == whole.last_stop_reason:
        return ()
    usage = of_message(message, parent=parent, first=whole.usage)
    whole.last_usage, whole.last_stop_reason = message.usage, message.stop_reason
    if usage == whole.usage:
        return ()
    memory.count(whole, usage)
    return (usage,)


def _blocks(
    memory: Memory,
    whole: ApiMessage,
    blocks: Sequence[shapes.Block],
    parent: str | None,
    line: bytes,
) -> Sequence[Event]:
    events: list[Event] = []
    unknown: str | None = None
    for block in blocks:
        if block.type == "text":
            id = whole.whole("text", block.text)
            if block.text:
                whole.measure(block.text)
                events.append(Text(id=id, text=block.text, parent=parent))
        elif block.type == "thinking":
            id = whole.whole("thinking", block.thinking)
            whole.measure(block.thinking or "")
            events.append(Thinking(id=id, text=block.thinking or None, parent=parent))
        elif block.type == "redacted_thinking":
            id = whole.whole("redacted_thinking")
            events.append(Thinking(id=id, redacted=True, parent=parent))
        elif block.type.endswith("tool_use"):
            whole.whole(block.type, tool_id=block.id)
            whole.measure(bytes(block.input))
            events += _start(memory, block, parent)
        elif block.type.endswith("tool_result"):
            whole.whole(block.type)
            events += _finish(memory, block, None, parent)
        else:
            unknown = block.type
    if unknown is not None:
        events.append(Unknown(name=f"assistant/{unknown}", raw=salvage.raw_copy(line)))
    return events


def _start(memory: Memory, block: shapes.Block, parent: str | None) -> Sequence[Event]:
    id, name = block.id or memory.new_id("tool"), block.name or ""
    if id in memory.tools or id in memory.mode_calls or memory.has_ended(id):
        return ()
    memory.announced.pop(id, None)
    if name in tools.PLAN_MODE:
        memory.mode_calls[id] = name
        return ()
    started = memory.tools[id] = _started(memory, id, name, parent, block.input)
    return (started,)


def _started(
    memory: Memory, id: str, name: str, parent: str | None, input: msgspec.Raw
) -> ToolStarted:
    kind = tools.kind(name)
    server, tool = split_mcp(name)
    return ToolStarted(
        id=id,
        name=name,
        kind=kind,
        title=memory.plan.title(name, input) or tools.title(kind, input),
        input=raw_copy(input),
        server=server,
        tool=tool,
        subagent=tools.subagent(input) if kind == "subagent" else None,
        parent=parent,
    )


def _finish(
    memory: Memory,
    block: shapes.Block | shapes.ToolResult,
    result: UseResult | None,
    parent: str | None,
) -> Sequence[Event]:
    id = block.tool_use_id or memory.new_id("tool")
    if id in memory.mode_calls:
        memory.end(id)
        return _change_mode(memory, block, memory.mode_calls.pop(id))
    if memory.has_ended(id):
        return ()
    tool = memory.end(id)
    outcome = tools.outcome_of(
        block, tool.name if tool else None, denied=memory.decisions.pop(id, None)
    )
    if outcome.error is not None:
        memory.fail(id, outcome.error)
    events: list[Event] = []
    if outcome.status == "denied":
        events += deny(memory, id, tool, reason=outcome.error)
    kind = tool.kind if tool else None
    output = outcome.output
    if kind == "subagent" and outcome.status == "ok":
        output = tools.subagent_report(result) or output
    events.append(
        ToolFinished(
            id=id,
            status=outcome.status,
            name=tool.name if tool else None,
            kind=kind,
            output=output,
            error=outcome.error,
            exit_code=outcome.exit_code,
            parent=parent or (tool.parent if tool else None),
        )
    )
    if tool is not None and outcome.status == "ok":
        events += _changes(memory, id, tool, result)
        if result is not None and not memory.reports_tasks:
            events += _background(memory, tool, result)
    return events


def _background(memory: Memory, tool: ToolStarted, result: UseResult) -> Sequence[Event]:
    """Read the start or the end of a background subagent: 2.0.76 has no messages for it."""
    if result.status == "async_launched" and result.agentId is not None:
        started = memory.tasks[result.agentId] = TaskStarted(
            id=result.agentId,
            kind="subagent",
            title=result.description or tool.title,
            tool_id=tool.id,
            background=True,
        )
        return (started,)
    asked = result.task if tool.name in tools.TASK_OUTPUT else None
    if asked is None or asked.status in tools.RUNNING:
        return ()
    known = memory.tasks.pop(asked.task_id or "", None)
    if known is None:
        return ()
    status: Status = "ok" if asked.status == "completed" else "error"
    return (
        TaskFinished(
            id=known.id, status=status, kind=known.kind, title=known.title, tool_id=known.tool_id
        ),
    )


def deny(
    memory: Memory,
    id: str,
    tool: ToolStarted | None,
    *,
    name: str | None = None,
    reason: str | None = None,
) -> Sequence[Event]:
    """Report once that a call was not permitted, with the rule that would allow it."""
    if id in memory.fixes:
        return ()
    if tool is None:
        memory.deny(id, None)
        return (PermissionDenied(tool_id=id, name=name, reason=reason),)
    fix = allow_rule(memory, tool.name, _input(tool), refusal=reason)
    memory.deny(id, fix)
    return (PermissionDenied(tool_id=id, name=tool.name, input=tool.input, reason=reason, fix=fix),)


def allow_rule(memory: Memory, name: str, input: msgspec.Raw, *, refusal: str | None) -> str | None:
    """The rule that would have allowed a denied call, if there is one."""
    if memory.mode == _ALL_ALLOWED or tools.is_final(refusal):
        return None
    return tools.allow_rule(name, input)


def _changes(
    memory: Memory, id: str, tool: ToolStarted, result: UseResult | None
) -> Sequence[Event]:
    """Return the changes that a successful call made: to a file, or to the plan."""
    if tool.kind == "edit":
        path = tools.path_of(_input(tool))
        changed = tools.file_change(result, name=tool.name, path=path, tool_id=id)
        return (changed,) if changed else ()
    if tool.kind == "plan" and memory.plan.apply(tool.name, _input(tool), result):
        return (PlanChanged(items=memory.plan.items),)
    return ()


def _input(tool: ToolStarted) -> msgspec.Raw:
    return NOTHING if tool.input is None else tool.input


def _change_mode(
    memory: Memory, block: shapes.Block | shapes.ToolResult, name: str
) -> Sequence[Event]:
    denied = memory.decisions.pop(block.tool_use_id or "", None)
    outcome = tools.outcome_of(block, name, denied=denied)
    if outcome.status != "ok":
        return (Notice(level="warning", text=f"{name}: {outcome.error or 'failed'}"),)
    if entered := tools.PLAN_MODE[name]:
        return set_mode(memory, entered)
    # If a status message has already reported the new mode, this result adds nothing.
    left = memory.mode in (None, "plan")
    return set_mode(memory, memory.mode_before_plan or "default") if left else ()


def set_mode(memory: Memory, mode: str) -> Sequence[Event]:
    """Enter a mode, unless the agent is already in it."""
    if mode == memory.mode:
        return ()
    if mode == "plan":
        memory.mode_before_plan = memory.mode
    memory.mode = mode
    return (ModeChanged(mode=mode),)


def _user_text(memory: Memory, message: shapes.User, text: str) -> Sequence[Event]:
    if text in _INTERRUPTS:
        return (Notice(level="warning", text=text[1:-1]),)
    if not text:
        return ()
    if match := _COMMAND_OUTPUT.fullmatch(text):
        memory.signs.command_output = output = match[2].strip()
        memory.signs.command_failed = failed = match[1] == "stderr"
        return _command_output(output, failed=failed)
    return (
        UserMessage(
            text=text,
            replay=message.isReplay,
            synthetic=message.isSynthetic,
            parent=message.parent_tool_use_id,
        ),
    )


def _command_output(text: str, *, failed: bool) -> Sequence[Event]:
    """The output of one of Claude Code's own commands, which the model does not see."""
    return (Notice(level="warning" if failed else "info", text=text),) if text else ()
