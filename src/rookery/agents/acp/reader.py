"""The table of the protocol's messages, and the decoder built on it."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.decoder import Events, LineDecoder, as_sequence
from rookery.adapter.lines import DEFAULT_CAP
from rookery.adapter.reader import Table, TableReader, no_events, silent_types, union_of
from rookery.agents.acp import calls, responses, shapes, usage
from rookery.agents.acp.dialects import DIALECTS, FORBIDDEN, REFUSED
from rookery.agents.acp.memory import Memory
from rookery.model.events import (
    Event,
    ModeChanged,
    Notice,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    Replayed,
    ToolProgress,
    ToolStarted,
    Unknown,
    UserMessage,
)

_ENDS = {"completed": "ok", "failed": "error"}
_SILENT = (
    # Requests that a client answers, without events of their own; ours refuses them all.
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
    "elicitation/complete",
    "craft/drainMidTurnQueue",  # qwen 0.24.4
    "_auth/status_update",  # claude-agent-acp 0.99.1, codex-acp 2.6.0
    "qwen/notify/session/prompt-suggestion",
)


def text_chunk(memory: Memory, update: shapes.TextChunk, line: bytes) -> Events:
    """Read a piece of what the agent says."""
    text = update.content.text if update.content else None
    if memory.replaying:
        return memory.replay("text", update.message_id, text or "")
    if not text:
        return usage.of_chunk(memory, update.meta)
    if update.message_id is None and (notice := _aside(memory, text)):
        return notice
    memory.refused_last = False
    return memory.add_piece(update.message_id, text, thinking=False)


def _aside(memory: Memory, text: str) -> list[Event]:
    """Read what the agent's program says; it comes as text of the agent (copilot, codex)."""
    for prefix, level in memory.dialect.asides.items() if memory.dialect else ():
        if text.startswith(prefix) and memory.partial_id is None:
            return [*memory.advance(), Notice(level=level, text=text[len(prefix) :].strip())]
    return []


def thought_chunk(memory: Memory, update: shapes.ThoughtChunk, line: bytes) -> Events:
    """Read a piece of what the agent thinks."""
    text = update.content.text if update.content else None
    if memory.replaying:
        return memory.replay("thinking", update.message_id, text or "")
    return memory.add_piece(update.message_id, text, thinking=True) if text else ()


def user_chunk(memory: Memory, update: shapes.UserChunk, line: bytes) -> Events:
    """Read a piece of what the user said: of an earlier turn, or an echo of the prompt."""
    text = (update.content.text if update.content else None) or ""
    if not memory.replaying and not memory.in_turn and memory.results and not memory.echoes:
        memory.replaying = not memory.is_over  # another client loads the session again
    if memory.replaying:
        return memory.replay("message", update.message_id, text)
    memory.echoes = True
    return [*memory.advance(), UserMessage(text=text)] if text else ()


def call_update(memory: Memory, call: shapes.AnyCall, line: bytes) -> Events:
    """Read that a call has begun, what it does, or that it has ended."""
    id = call.tool_call_id
    if id is None:
        return Unknown(name="tool_call", raw=salvage.raw_copy(line))
    if memory.replaying:
        return _replayed(memory, id, call)
    if memory.has_ended(id):
        return ()
    status = call.status
    if status not in _ENDS and memory.dialect and memory.dialect.input_in_content:
        calls.take_input(call)
    events = _begin(memory, id, call, is_whole=status in _ENDS)
    if changes := calls.changes_of(call):
        memory.changes[id] = changes
    if id in memory.asked:
        memory.asked[id] = status == "in_progress"
    if status not in _ENDS and (output := calls.live_output_of(call)):
        events += [*memory.release(id), ToolProgress(id=id, output=output)]
    if status in _ENDS:
        events += _end(memory, id, call, ok=status == "completed")
    return [*memory.advance(), *events] if events else ()


def _begin(memory: Memory, id: str, call: shapes.AnyCall, *, is_whole: bool) -> list[Event]:
    """Report the start of a call, once something says what it is about."""
    memory.has_called = memory.has_worked = True
    if id in memory.tools:
        return []
    before = memory.held.pop(id, None)
    started = _started(memory, id, call, before)
    is_first = before is None and call.status == "in_progress"
    if is_whole or (is_first and started.title) or calls.described(call) is not None:
        return memory.start(started)
    memory.held[id] = started
    return []


def _started(
    memory: Memory, id: str, call: shapes.AnyCall, before: ToolStarted | None
) -> ToolStarted:
    """The start of a call, with what earlier messages said about it."""
    name = calls.name_of(call, memory.dialect) or (before.name if before else None)
    kind = calls.kind_of(call, name)
    if kind == "other" and before is not None:
        kind = before.kind
    return ToolStarted(
        id=id,
        name=name or kind,
        kind=kind,
        title=calls.title_of(call) or (before.title if before else None),
        input=calls.input_of(call) or (before.input if before else None),
        parent=calls.parent_of(call, memory.dialect) or (before.parent if before else None),
    )


def _end(memory: Memory, id: str, call: shapes.AnyCall, *, ok: bool) -> list[Event]:
    """Report the end of a call; one that ended well may still have failed."""
    changes = memory.changes.pop(id, [])
    output, code = calls.output_of(call), calls.exit_code_of(call)
    if ok and not code:
        return [*memory.finish(id, "ok", output=output, exit_code=code), *changes]
    pattern = REFUSED if id in memory.asked else FORBIDDEN
    if not ok and code is None and output and pattern.search(output):
        memory.refused_last = True
        return memory.finish(id, "denied", error=output)
    return memory.finish(id, "error", output=output, error=output, exit_code=code)


def _replayed(memory: Memory, id: str, call: shapes.AnyCall) -> list[Event]:
    """Report a call of an earlier turn, once."""
    if not memory.replay_call(id):
        return []
    name = calls.name_of(call, memory.dialect) or calls.kind_of(call)
    event = Replayed(kind="tool", id=id, name=name, text=calls.title_of(call))
    return [*memory.end_replay(), event]


def plan(memory: Memory, update: shapes.Plan, line: bytes) -> Events:
    """Read the whole plan."""
    items = tuple(
        PlanItem(text=entry.content or "", status=entry.status) for entry in update.entries or ()
    )
    if memory.replaying or items == memory.plan:
        return ()
    memory.plan = items
    return [*memory.advance(), PlanChanged(items=items)]


def mode(memory: Memory, update: shapes.ModeUpdate, line: bytes) -> Events:
    """Read that the agent entered another mode."""
    if update.current_mode_id is None or update.current_mode_id == memory.mode:
        return ()
    memory.mode = update.current_mode_id
    return ModeChanged(mode=update.current_mode_id) if memory.is_announced else ()


def usage_update(memory: Memory, update: shapes.UsageUpdate, line: bytes) -> Events:
    """Read how much of the context is used, which is not what was spent, and the cost so far."""
    usage.note(memory, update)
    # Where messages have no ids, only this shows that one has ended (copilot 1.0.102).
    return memory.end_text() if memory.has_unnamed_text else ()


_UPDATES: Mapping[type, Callable[[Memory, Any, bytes], Events]] = {
    shapes.TextChunk: text_chunk,
    shapes.ThoughtChunk: thought_chunk,
    shapes.UserChunk: user_chunk,
    shapes.CallStart: call_update,
    shapes.CallUpdate: call_update,
    shapes.Plan: plan,
    shapes.ModeUpdate: mode,
    shapes.UsageUpdate: usage_update,
    shapes.CommandsUpdate: no_events,
    shapes.SessionInfoUpdate: no_events,
    shapes.ConfigUpdate: no_events,
}


def session_update(memory: Memory, message: shapes.SessionUpdate, line: bytes) -> Events:
    """Read what happens in the session."""
    params = message.params
    update = params.update
    if update is None:
        return _unknown(line)
    if params.session_id != memory.session or not memory.is_announced:
        if memory.is_of_another(params.session_id):
            return Unknown(name="session/update of another session", raw=salvage.raw_copy(line))
        memory.session = memory.session or params.session_id
        events = as_sequence(_UPDATES[type(update)](memory, update, line))
        return [*memory.announce(), *events] if events and not memory.replaying else events
    return _UPDATES[type(update)](memory, update, line)


def _unknown(line: bytes) -> Event:
    """An update of a kind that is not known."""
    found = salvage.decode_part(line, _named)
    kind = found.params.update.kind if found and found.params and found.params.update else None
    name = f"session/update/{kind}" if kind else "session/update"
    return Unknown(name=name, raw=salvage.raw_copy(line))


def permission(memory: Memory, message: shapes.PermissionRequest, line: bytes) -> Events:
    """Read that a call needs permission; for some calls this is their first message."""
    call = message.params.tool_call or shapes.Call()
    id, request = call.tool_call_id, None if message.id is None else str(message.id)
    memory.session = memory.session or message.params.session_id
    events = [*memory.announce(), *memory.advance()]
    if id is not None and not memory.has_ended(id):
        events += _begin(memory, id, call, is_whole=True)
        memory.ask(id)
        if changes := calls.changes_of(call):
            memory.changes[id] = changes
    started = memory.tools.get(id or "")
    asked = PermissionRequested(
        id=request,
        tool_id=id,
        name=started.name if started else calls.name_of(call, memory.dialect),
        input=calls.input_of(call) or (started.input if started else None),
    )
    return [*events, asked]


_TABLE: Table[Memory] = {
    **silent_types(_SILENT, tag_field="method"),
    shapes.SessionUpdate: session_update,
    shapes.PermissionRequest: permission,
}
_SHAPES = union_of(_TABLE)


class _Kind(msgspec.Struct):
    kind: str | None = msgspec.field(default=None, name="sessionUpdate")


class _Params(msgspec.Struct):
    update: _Kind | None = None


class _Named(msgspec.Struct):
    params: _Params | None = None


_named = msgspec.json.Decoder(_Named)


def decoder(*, agent: str = "acp", cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for what an agent writes in the protocol."""
    table: Table[Memory] = {**_TABLE, shapes.Response: responses.response}
    reader = TableReader(Memory(DIALECTS.get(agent)), table, looked_at=0)
    return LineDecoder(agent, _SHAPES, reader, untagged=shapes.Response, cap=cap)
