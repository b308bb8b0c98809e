"""Reads the messages between model and tools: assistant, user and partial messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nightrook.adapter import salvage
from nightrook.adapter.usage import uncached
from nightrook.agents.qwen import shapes, tools
from nightrook.agents.qwen.memory import Memory
from nightrook.model.events import (
    Event,
    Status,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolInputDelta,
    ToolProgress,
    Unknown,
    UsageReported,
    UserMessage,
)


def assistant(memory: Memory, message: shapes.Assistant, line: bytes) -> Sequence[Event]:
    """Read a part of one answer of the model: thoughts, text or tool calls.

    Each part has its own id; the last one includes the tokens of all.
    """
    inner = message.message or shapes.Inner()
    parent = message.parent_tool_use_id
    events = [] if parent is not None or memory.in_turn else memory.begin_turn()
    unknown: str | None = None
    for n, block in enumerate(inner.content or ()):
        type = block.type
        if type == "tool_use":
            events += _start(memory, block, parent)
        elif type == "text" or type == "thinking":
            events += _text(memory, block, f"{inner.id or memory.new_id('message')}:{n}", parent)
        else:
            unknown = type
    used, last = inner.usage, None
    if used is not None and (used.input_tokens or used.output_tokens):  # zeros: not counted
        events.append(_usage(memory, inner, used, parent))
    elif inner.content:
        last = inner.content[-1]
    if parent is None:
        memory.retrying = False
        memory.last = last.text if last is not None and last.type == "text" else None
    if unknown is not None:
        events.append(Unknown(name=f"assistant/{unknown}", raw=salvage.raw_copy(line)))
    return events


def user(memory: Memory, message: shapes.User, line: bytes) -> Sequence[Event]:
    """Read a tool's result, a subagent's task, or a text of Qwen Code for the model."""
    inner = message.message or shapes.Inner()
    parent = message.parent_tool_use_id
    events: list[Event] = []
    unknown: str | None = None
    for block in inner.content or ():
        if block.type == "tool_result":
            events += _finish(memory, block, parent)
        elif block.type == "text":
            events.append(UserMessage(text=block.text or "", synthetic=True, parent=parent))
        else:
            unknown = block.type
    if unknown is not None:
        events.append(Unknown(name=f"user/{unknown}", raw=salvage.raw_copy(line)))
    return events


def stream_event(memory: Memory, message: shapes.StreamEvent, line: bytes) -> Sequence[Event]:
    """Read a piece of an unfinished message."""
    part, parent = message.event, message.parent_tool_use_id
    read = _PARTS.get(type(part))
    if read is None:
        return (Unknown(name="stream_event", raw=salvage.raw_copy(line)),)
    return read(memory, parent, part)


def _message_start(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    if parent is not None:
        return ()
    memory.retrying = False
    return memory.begin_turn()


def _block_start(memory: Memory, parent: str | None, part: shapes.BlockStart) -> Sequence[Event]:
    block = part.content_block or shapes.Block()
    tool_id = block.id or memory.new_id("call") if block.type == "tool_use" else None
    return memory.open_block(parent, part.index, block.type, tool_id)


def _block_delta(memory: Memory, parent: str | None, part: shapes.BlockDelta) -> Sequence[Event]:
    delta = part.delta or shapes.Delta()
    block = memory.block(parent, part.index)
    if block is None:  # the recording starts in the middle of a message
        memory.open_block(parent, part.index, delta.type.partition("_")[0])
        block = memory.block(parent, part.index)
        assert block is not None
    if delta.text is not None:
        block.pieces.append(delta.text)
        return (TextDelta(id=block.id, text=delta.text, parent=parent),)
    if delta.thinking is not None:
        block.pieces.append(delta.thinking)
        return (ThinkingDelta(id=block.id, text=delta.thinking, parent=parent),)
    if delta.partial_json is not None:
        return (ToolInputDelta(id=block.tool_id or block.id, json=delta.partial_json),)
    return ()


def _message_stop(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    return memory.end_message(parent)


def _tool_progress(
    memory: Memory, parent: str | None, part: shapes.ToolProgress
) -> Sequence[Event]:
    if part.tool_use_id is None:
        return ()
    progress = part.content or shapes.Progress()
    elapsed = None if progress.elapsedMs is None else progress.elapsedMs / 1000
    return (ToolProgress(id=part.tool_use_id, elapsed_s=elapsed, output=progress.message),)


def _nothing(memory: Memory, parent: str | None, part: object) -> Sequence[Event]:
    return ()


_PARTS: Mapping[type, Callable[[Memory, str | None, Any], Sequence[Event]]] = {
    shapes.BlockDelta: _block_delta,
    shapes.BlockStart: _block_start,
    shapes.BlockStop: _nothing,
    shapes.GoalState: _nothing,
    shapes.MessageStart: _message_start,
    shapes.MessageStop: _message_stop,
    shapes.ToolProgress: _tool_progress,
}


def _text(memory: Memory, block: shapes.Block, id: str, parent: str | None) -> Sequence[Event]:
    if memory.blocks and (pieces := memory.take_block(parent, block.type)) is not None:
        id = pieces.id
    if block.type == "thinking":
        return (Thinking(id=id, text=block.thinking or None, parent=parent),)
    return (Text(id=id, text=block.text, parent=parent),) if block.text else ()


def _start(memory: Memory, block: shapes.Block, parent: str | None) -> Sequence[Event]:
    if memory.blocks:
        memory.take_block(parent, "tool_use")
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


def _finish(memory: Memory, block: shapes.Block, parent: str | None) -> Sequence[Event]:
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


def _usage(
    memory: Memory, message: shapes.Inner, used: shapes.Usage, parent: str | None
) -> UsageReported:
    """The tokens of an answer."""
    model = message.model
    if memory.fallback is not None and parent is None:
        # The message names the model that was tried first (0.24.4 model_fallback).
        model, memory.fallback = memory.fallback, None
    return UsageReported(
        message_id=message.id,
        model=model,
        stop_reason=message.stop_reason,
        scope="message",
        semantics="final",
        input=uncached(used.input_tokens, used.cache_read_input_tokens),
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens,
        parent=parent,
    )
