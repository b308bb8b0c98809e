"""The table of OpenCode's message types, and the decoder built on it.

Every message is a part that is finished: there are no pieces, and a tool call comes with its
result.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from rookery.agents.opencode import faults, shapes, tools
from rookery.agents.opencode.memory import Memory
from rookery.agents.opencode.shapes import own
from rookery.core.decoder import LineDecoder, Told
from rookery.core.drift import LOOKED_AT
from rookery.core.events import (
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
from rookery.core.lines import DEFAULT_CAP

_Read = Callable[[Any, Any, bytes], Told]
_Table = Mapping[type[msgspec.Struct], _Read]

# What a refused call says; nothing else marks it (1.18.33 permission_ask_rejected,
# permission_denied_rule).
_REJECTED = "The user rejected permission to use this specific tool call"
_FORBIDDEN = "The user has specified a rule which prevents you from using this specific tool call."
_ABORTED = "Tool execution aborted"
_TOOK_TOO_LONG = "shell tool terminated command after exceeding timeout"


def step_start(memory: Memory, message: shapes.StepStart, line: bytes) -> Sequence[Event]:
    """Read the beginning of a request to the model, or of one that is tried again."""
    part = message.part or shapes.StepStartPart()
    events = [] if message.sessionID in memory.sessions else memory.begin(message.sessionID)
    # A request that broke off is begun anew with the same message (1.18.33 sse_error_event).
    if memory.is_new(part.id) and memory.begin_step(part.messageID):
        events.append(Retrying(attempt=memory.retries))
    return events


def text(memory: Memory, message: shapes.Text, line: bytes) -> Sequence[Event]:
    """Read what the model said, or what OpenCode says to it after a compaction."""
    part = message.part or shapes.TextPart()
    events = [] if message.sessionID in memory.sessions else memory.begin(message.sessionID)
    if not part.text or not memory.is_new(part.id):
        return events
    if part.synthetic:
        if part.metadata is not None and part.metadata.compaction_continue:
            # The summary came as an ordinary step that stopped (1.18.33 compaction).
            memory.stopped = None
            events.append(ContextCompacted(trigger="auto"))
        events.append(UserMessage(text=part.text, synthetic=True))
    else:
        memory.answer.append(part.text)
        events.append(Text(id=part.id or memory.name("text"), text=part.text))
    return events


def reasoning(memory: Memory, message: shapes.Reasoning, line: bytes) -> Sequence[Event]:
    """Read a thought; its text is empty where the provider hides it."""
    part = message.part or shapes.ReasoningPart()
    events = [] if message.sessionID in memory.sessions else memory.begin(message.sessionID)
    if memory.is_new(part.id):
        id = part.id or memory.name("thought")
        hidden = None if part.text else True
        events.append(Thinking(id=id, text=part.text or None, redacted=hidden))
    return events


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Sequence[Event]:
    """Read a tool call that has ended: its beginning was not told."""
    part = message.part or shapes.ToolPart()
    state = part.state or shapes.ToolState()
    events = [] if message.sessionID in memory.sessions else memory.begin(message.sessionID)
    # Some providers number the calls of each request from 0, so `callID` names no call for good.
    if not memory.is_new(part.id):
        return events
    id = part.id or memory.name("call")
    name = part.tool or "tool"
    kind = tools.kind(name)
    input = own(state.input)
    events.append(
        ToolStarted(id=id, name=name, kind=kind, title=tools.title(kind, state), input=input)
    )
    status = _status(name, state)
    if status == "denied":
        rejected = (state.error or "").startswith(_REJECTED)
        memory.rejected = memory.rejected or rejected
        # What nobody was there to allow, `--auto` allows; what a rule forbids, it does not.
        fix = "--auto" if rejected else None
        events.append(
            PermissionDenied(tool_id=id, name=name, input=input, reason=state.error, fix=fix)
        )
    code = state.metadata.exit if state.metadata else None
    output = tools.report(state.output) if kind == "subagent" else state.output
    events.append(
        ToolFinished(
            id=id,
            status=status,
            name=name,
            kind=kind,
            output=output,
            error=None if status == "ok" else _complaint(state),
            exit_code=code if isinstance(code, int) else None,
        )
    )
    if status == "ok" and kind in ("edit", "plan"):
        events += tools.consequences(name, id, state)
    return events


def step_finish(memory: Memory, message: shapes.StepFinish, line: bytes) -> Sequence[Event]:
    """Read the end of a request to the model, with what it alone used and cost."""
    part = message.part or shapes.StepFinishPart()
    events = [] if message.sessionID in memory.sessions else memory.begin(message.sessionID)
    if not memory.is_new(part.id):
        return events
    memory.stopped = part.reason or "unknown"
    memory.totals.steps += 1
    used = _usage(part)
    if used is not None:
        memory.totals.add(used)
        events.append(used)
    return events


def error(memory: Memory, message: shapes.Error, line: bytes) -> Sequence[Event]:
    """Read a failure; a step that follows shows that it was mended."""
    told = message.error or shapes.ErrorInfo()
    events = [] if message.sessionID in memory.sessions else memory.begin(message.sessionID)
    memory.failure = faults.read(told)
    memory.aborted = told.name == "MessageAbortedError"
    events.append(memory.failure)
    return events


def _status(name: str, state: shapes.ToolState) -> Status:
    """How a call ended: a command that failed is `completed` (1.18.33 bash_fail)."""
    told = state.metadata or shapes.ToolMetadata()
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
    if tokens is None or tokens.total is None:
        return None
    cache = tokens.cache or shapes.Cache()
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
        self._looked = dict.fromkeys(_READERS, 0)
        self._functions: dict[type[msgspec.Struct], _Read] = {
            shape: partial(self._watched, shape) for shape in _READERS
        }
        self.table: _Table = self._functions

    @property
    def results(self) -> int:
        """How many turns have ended: one at most, when the stream closes."""
        return self.memory.results

    def type_of(self, message: Any) -> str:
        """The message's type."""
        return str(type(message).__struct_config__.tag)

    def _watched(
        self, shape: type[msgspec.Struct], memory: Memory, message: Any, line: bytes
    ) -> Told:
        read = _READERS[shape]
        self.drift.look(self.type_of(message), line)
        self._looked[shape] += 1
        if self._looked[shape] >= LOOKED_AT:
            self._functions[shape] = read
        return read(memory, message, line)

    def close(self) -> tuple[Sequence[Event], int]:
        """Tell how the turn ended."""
        return self.memory.close()


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Make a decoder for one stream of OpenCode."""
    return LineDecoder("opencode", shapes.Shapes, OpenCodeReader(), cap=cap)
