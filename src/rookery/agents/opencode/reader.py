"""The table of OpenCode's message types, and the decoder built on it.

Every message is a part that is finished: there are no pieces, and a tool call comes with its
result.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.agent import PERMIT_ALL
from rookery.adapter.decoder import Events, LineDecoder, as_sequence
from rookery.adapter.drift import ALWAYS_LOOKED_AT, watch
from rookery.adapter.lines import DEFAULT_CAP
from rookery.agents.opencode import faults, shapes, tools
from rookery.agents.opencode.memory import Memory
from rookery.agents.opencode.shapes import NOTHING
from rookery.model.events import (
    ContextCompacted,
    Event,
    PermissionDenied,
    Retrying,
    Status,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    UsageReported,
    UserMessage,
)

_Read = Callable[[Any, Any, bytes], Events]
_Table = Mapping[type[msgspec.Struct], _Read]

# What a refused call says; nothing else marks it (1.18.33 permission_ask_rejected,
# permission_denied_rule).
_REJECTED = "The user rejected permission to use this specific tool call"
_FORBIDDEN = "The user has specified a rule which prevents you from using this specific tool call."
_ABORTED = "Tool execution aborted"
_TOOK_TOO_LONG = "shell tool terminated command after exceeding timeout"


def step_start(memory: Memory, message: shapes.StepStart, line: bytes) -> Events:
    """Read the beginning of a request to the model, or of one that is tried again."""
    if message.sessionID != memory.session:
        return _begin(step_start, memory, message, line)
    part = message.part
    # A request that broke off is begun anew with the same message (1.18.33 sse_error_event).
    if memory.is_new(part.id) and memory.begin_step(part.messageID):
        return Retrying(attempt=memory.retries)
    return ()


def text(memory: Memory, message: shapes.Text, line: bytes) -> Events:
    """Read what the model said, or what OpenCode says to it after a compaction."""
    if message.sessionID != memory.session:
        return _begin(text, memory, message, line)
    part = message.part
    if not part.text or not memory.is_new(part.id):
        return ()
    if not part.synthetic:
        memory.answer.append(part.text)
        return Text(id=part.id or memory.new_id("text"), text=part.text)
    told = UserMessage(text=part.text, synthetic=True)
    if not part.metadata.compaction_continue:
        return told
    # The summary came as an ordinary step that stopped (1.18.33 compaction).
    memory.stopped = None
    return (ContextCompacted(trigger="auto"), told)


def reasoning(memory: Memory, message: shapes.Reasoning, line: bytes) -> Events:
    """Read a thought; its text is empty where the provider hides it."""
    if message.sessionID != memory.session:
        return _begin(reasoning, memory, message, line)
    part = message.part
    if not memory.is_new(part.id):
        return ()
    hidden = None if part.text else True
    return Thinking(id=part.id or memory.new_id("thought"), text=part.text or None, redacted=hidden)


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read a tool call that has ended: its beginning was not told."""
    if message.sessionID != memory.session:
        return _begin(tool_use, memory, message, line)
    part = message.part
    state = part.state
    # Some providers number the calls of each request from 0, so `callID` names no call for good.
    if not memory.is_new(part.id):
        return ()
    id = part.id or memory.new_id("call")
    name = part.tool or "tool"
    kind = tools.KINDS.get(name, "other")
    input = None if state.input is NOTHING else salvage.raw_copy(state.input)
    title = tools.title(kind, state)
    started = ToolStarted(id=id, name=name, kind=kind, title=title, input=input)
    status = _status(name, state)
    code = state.metadata.exit
    finished = ToolFinished(
        id=id,
        status=status,
        name=name,
        kind=kind,
        output=tools.report(state.output) if kind == "subagent" else state.output,
        error=None if status == "ok" else _complaint(state),
        exit_code=code if isinstance(code, int) else None,
    )
    if status == "denied":
        return (started, _denial(memory, started, state.error or ""), finished)
    if status == "ok" and kind in tools.CHANGING:
        return (started, finished, *tools.consequences(name, id, state))
    return (started, finished)


def step_finish(memory: Memory, message: shapes.StepFinish, line: bytes) -> Events:
    """Read the end of a request to the model, with what it alone used and cost."""
    if message.sessionID != memory.session:
        return _begin(step_finish, memory, message, line)
    part = message.part
    if not memory.is_new(part.id):
        return ()
    memory.stopped = part.reason or "unknown"
    memory.totals.steps += 1
    used = _usage(part)
    if used is None:
        return ()
    memory.totals.add(used)
    return used


def error(memory: Memory, message: shapes.Error, line: bytes) -> Events:
    """Read a failure; a step that follows shows that it was mended."""
    if message.sessionID != memory.session:
        return _begin(error, memory, message, line)
    told = message.error
    memory.failure = faults.read(told)
    memory.aborted = told.name == "MessageAbortedError"
    return memory.failure


def _begin(read: _Read, memory: Memory, message: Any, line: bytes) -> Events:
    """Read a message of another session than the last, which may be new."""
    return [*memory.begin(message.sessionID), *as_sequence(read(memory, message, line))]


def _denial(memory: Memory, started: ToolStarted, reason: str) -> PermissionDenied:
    """A call that was not permitted.

    What was asked for may be the tool, a folder or a call that repeats itself: no message says. So
    no rule can be named, but what nobody was there to allow, the permission to do all allows.
    """
    rejected = reason.startswith(_REJECTED)
    memory.rejected = memory.rejected or rejected
    return PermissionDenied(
        tool_id=started.id,
        name=started.name,
        input=started.input,
        reason=reason,
        fix=PERMIT_ALL if rejected else None,  # what a rule forbids, it does not allow
    )


def _status(name: str, state: shapes.ToolState) -> Status:
    """How a call ended: a command that failed is `completed` (1.18.33 bash_fail)."""
    told = state.metadata
    if state.status != "completed":
        said = state.error or ""
        if said.startswith((_REJECTED, _FORBIDDEN)):
            return "denied"
        return "cancelled" if told.interrupted or said == _ABORTED else "error"
    if told.exit is None:  # the command did not end by itself (1.18.33 bash_timeout)
        why = tools.note(state.output) or ""
        return "timed_out" if why.startswith(_TOOK_TOO_LONG) else "cancelled"
    # A call that no tool could take is answered by the tool `invalid` (1.18.33 bad_tool_args).
    failed = name == "invalid" or (isinstance(told.exit, int) and told.exit != 0)
    return "error" if failed else "ok"


def _complaint(state: shapes.ToolState) -> str | None:
    """What a call that failed says: its error, why its command was ended, or its output."""
    return state.error or tools.note(state.output) or state.output


def _usage(part: shapes.StepFinishPart) -> UsageReported | None:
    """What a step used; None if the provider told nothing, which OpenCode writes as zeros.

    OpenCode counts reasoning beside the output; here, as everywhere, it is part of the output. A
    model without a configured price costs 0, like one that is free: nobody knows which.
    """
    tokens = part.tokens
    if tokens.total is None:
        return None
    cache = tokens.cache
    output = tokens.output
    if output is not None:
        output += tokens.reasoning or 0
    return UsageReported(
        message_id=part.messageID,
        stop_reason=part.reason,
        scope="message",
        semantics="final",
        input=tokens.input,
        output=output,
        cache_read=cache.read,
        cache_write_5m=cache.write,
        reasoning=tokens.reasoning,
        cost_usd=part.cost or None,
    )


_READERS: _Table = {
    shapes.StepStart: step_start,
    shapes.Text: text,
    shapes.Reasoning: reasoning,
    shapes.ToolUse: tool_use,
    shapes.StepFinish: step_finish,
    shapes.Error: error,
}


class OpenCodeReader:
    """Turns OpenCode's messages into events.

    The stream does not tell which version writes it, so the first messages of each type are always
    looked at for fields that are new.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.drift = self.memory.drift
        functions = dict(_READERS)
        watch(functions, self.drift, most=ALWAYS_LOOKED_AT)
        self.table: _Table = functions

    @property
    def results(self) -> int:
        """How many turns have ended: one at most, when the stream closes."""
        return self.memory.results

    def type_of(self, message: Any) -> str:
        """The message's type."""
        return str(type(message).__struct_config__.tag)

    def close(self) -> tuple[Sequence[Event], int]:
        """Tell how the turn ended."""
        return self.memory.close()


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Make a decoder for one stream of OpenCode."""
    return LineDecoder("opencode", shapes.Shapes, OpenCodeReader(), cap=cap)
