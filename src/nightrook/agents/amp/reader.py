"""The table of Amp's message types, and the decoder built on it."""

import re
from collections.abc import Sequence
from functools import partial

from nightrook.adapter import salvage
from nightrook.adapter.agent import PERMIT_ALL
from nightrook.adapter.memory import Memory
from nightrook.adapter.reader import Table, decoder_of
from nightrook.adapter.usage import uncached
from nightrook.agents.amp import shapes, tools
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import (
    Error,
    Event,
    McpServer,
    PermissionDenied,
    SessionStarted,
    Text,
    Thinking,
    Unknown,
    UsageReported,
    UserMessage,
)

# Both sentences are in the program 0.0.1790142911.
_APPROVAL = re.compile(
    r"The following tools require user approval, which is not supported in stream JSON mode: (.*)",
    re.DOTALL,
)
_CANCELLED = "User cancelled"


def system(memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
    """Read the start of a thread, or of further work on it."""
    if message.subtype != "init":
        return (Unknown(name=f"system/{message.subtype}", raw=salvage.raw_copy(line)),)
    if message.session_id in memory.sessions:
        return ()
    memory.sessions.add(message.session_id)
    servers = message.mcp_servers
    return (
        SessionStarted(
            session=message.session_id,
            cwd=message.cwd,
            tools=None if message.tools is None else tuple(message.tools),
            mcp_servers=None
            if servers is None
            else tuple(McpServer(name=s.name, status=s.status) for s in servers if s.name),
        ),
    )


def user(memory: Memory, message: shapes.User, line: bytes) -> Sequence[Event]:
    """Read the prompt, or the results of tools."""
    parent = message.parent_tool_use_id
    events: list[Event] = [] if parent or memory.in_turn else memory.begin_turn()
    unknown: str | None = None
    for block in (message.message or shapes.Inner()).content or ():
        if block.type == "tool_result":
            events += _finish(memory, block, parent)
        elif block.type == "text":
            events.append(UserMessage(text=block.text or "", parent=parent))
        else:
            unknown = block.type
    if unknown is not None:
        events.append(Unknown(name=f"user/{unknown}", raw=salvage.raw_copy(line)))
    return events


def assistant(memory: Memory, message: shapes.Assistant, line: bytes) -> Sequence[Event]:
    """Read a complete message of the model, with its tokens."""
    inner, parent = message.message or shapes.Inner(), message.parent_tool_use_id
    events: list[Event] = [] if parent or memory.in_turn else memory.begin_turn()
    unknown: str | None = None
    for block in inner.content or ():
        type = block.type
        if type == "tool_use":
            id, name = block.id or memory.new_id("call"), block.name or "tool"
            events += memory.start(tools.TOOLS.started(id, name, block.input, parent=parent))
        elif type == "text":
            if block.text:
                events.append(Text(id=memory.new_id("text"), text=block.text, parent=parent))
        elif type == "thinking" or type == "redacted_thinking":
            hidden = True if type == "redacted_thinking" else None
            id, text = memory.new_id("thought"), block.thinking or None
            events.append(Thinking(id=id, text=text, redacted=hidden, parent=parent))
        else:
            unknown = type
    used = inner.usage
    if used is not None and (used.input_tokens or used.output_tokens):  # zeros: not counted
        events.append(_usage(used, inner.stop_reason, parent))
    if unknown is not None:
        events.append(Unknown(name=f"assistant/{unknown}", raw=salvage.raw_copy(line)))
    return events


def result(memory: Memory, message: shapes.Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; a call that needs approval ends it, too."""
    events = memory.begin_turn()
    ok = message.subtype == "success" and message.is_error is False
    text = message.error or message.result
    reason = None if ok else _reason(message.subtype, text or "")
    if reason == "denied":
        events += _denials(memory, text or "")
    elif reason == "error":
        events.append(Error(kind="internal", message=text))
    seconds = None if message.duration_ms is None else message.duration_ms / 1000
    text = message.result if ok else text
    finished = memory.finish_turn(reason, text, duration_s=seconds, turns=message.num_turns)
    return [*events, finished]


_TABLE: Table[Memory] = {
    shapes.System: system,
    shapes.User: user,
    shapes.Assistant: assistant,
    shapes.Result: result,
}

decoder = decoder_of("amp", _TABLE, partial(Memory, KNOWN_FIELDS["amp"]))
"""Returns a decoder for one stream of Amp."""


def _finish(memory: Memory, block: shapes.Block, parent: str | None) -> Sequence[Event]:
    id = block.tool_use_id or memory.new_id("call")
    call, ok = memory.tools.get(id), block.is_error is False
    error = None if ok else block.content
    events = memory.finish(
        id, "ok" if ok else "error", output=block.content, error=error, parent=parent
    )
    if ok and call is not None and call.kind in tools.CHANGING:
        events += tools.changes(call.name, id, call.input)
    return events


def _reason(subtype: str | None, text: str) -> str:
    if subtype == "error_max_turns":
        return "max_turns"
    if _APPROVAL.fullmatch(text):
        return "denied"
    return "interrupted" if text.startswith(_CANCELLED) else "error"


def _denials(memory: Memory, text: str) -> Sequence[Event]:
    """The calls that need approval: the sentence names their tools, and they are still open."""
    match = _APPROVAL.fullmatch(text)
    names = dict.fromkeys(name.strip() for name in match[1].split(",")) if match else {}
    calls = [call for call in memory.tools.values() if call.name in names]
    events: list[Event] = []
    for call in calls:
        events += memory.finish(call.id, "denied", error=text, fix=PERMIT_ALL)
    missing = names.keys() - {call.name for call in calls}
    events += [
        PermissionDenied(name=name, reason=text, fix=PERMIT_ALL)
        for name in names
        if name in missing
    ]
    return events


def _usage(used: shapes.Usage, stop_reason: str | None, parent: str | None) -> UsageReported:
    """The tokens of a message."""
    read, written = used.cache_read_input_tokens, used.cache_creation_input_tokens
    return UsageReported(
        stop_reason=stop_reason,
        scope="message",
        semantics="final",
        input=uncached(used.input_tokens, read, written),
        output=used.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        parent=parent,
    )
