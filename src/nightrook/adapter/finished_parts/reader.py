"""The table of message types, and the decoder built on it.

Every message is a complete part: there are no pieces, and a tool call comes with its result. So
its start and end are made here and not by `Memory.start` and `Memory.finish`, which keep track of
open calls.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nightrook.adapter import salvage
from nightrook.adapter.agent import PERMIT_ALL
from nightrook.adapter.decoder import Events, LineDecoder, as_sequence
from nightrook.adapter.finished_parts import errors, shapes, tools
from nightrook.adapter.finished_parts.memory import Memory
from nightrook.adapter.reader import Read, Table, decoder_of
from nightrook.model.events import (
    ContextCompacted,
    PermissionDenied,
    Retrying,
    Status,
    Text,
    Thinking,
    ToolFinished,
    ToolKind,
    ToolStarted,
    UsageReported,
    UserMessage,
)
from nightrook.model.price import credible

# The errors of refused calls; nothing else marks them (permission_ask_rejected,
# permission_denied_rule).
_REJECTED = "The user rejected permission to use this specific tool call"
_FORBIDDEN = "The user has specified a rule which prevents you from using this specific tool call."
_ABORTED = "Tool execution aborted"
_TOOK_TOO_LONG = "shell tool terminated command after exceeding timeout"


def step_start(memory: Memory, message: shapes.StepStart, line: bytes) -> Events:
    """Read the start of a request to the model, or of a retry."""
    if message.sessionID != memory.session:
        return _enter(step_start, memory, message, line)
    part = message.part
    # A request that broke off is repeated with the same message id (case sse_error_event).
    if memory.is_new(part.id) and memory.begin_step(part.messageID):
        return Retrying(attempt=memory.retries)
    return ()


def text(memory: Memory, message: shapes.Text, line: bytes) -> Events:
    """Read a text of the model, or what the agent writes to the model after a compaction."""
    if message.sessionID != memory.session:
        return _enter(text, memory, message, line)
    part = message.part
    if not part.text or not memory.is_new(part.id):
        return ()
    if not part.synthetic:
        memory.texts.append(part.text)
        return Text(id=part.id or memory.new_id("text"), text=part.text)
    prompt = UserMessage(text=part.text, synthetic=True)
    if not part.metadata.compaction_continue:
        return prompt
    # The summary came as an ordinary step that stopped (case compaction).
    memory.stopped = None
    return (ContextCompacted(trigger="auto"), prompt)


def reasoning(memory: Memory, message: shapes.Reasoning, line: bytes) -> Events:
    """Read a thought; its text is empty if the provider hides it."""
    if message.sessionID != memory.session:
        return _enter(reasoning, memory, message, line)
    part = message.part
    if not memory.is_new(part.id):
        return ()
    hidden = None if part.text else True
    return Thinking(id=part.id or memory.new_id("thought"), text=part.text or None, redacted=hidden)


def tool_use(memory: Memory, message: shapes.ToolUse, line: bytes) -> Events:
    """Read a finished tool call; its start was not reported."""
    if message.sessionID != memory.session:
        return _enter(tool_use, memory, message, line)
    part = message.part
    state = part.state
    # Some providers number the calls of each request from 0, so `callID` is not unique.
    if not memory.is_new(part.id):
        return ()
    id = part.id or memory.new_id("call")
    forbidden = tools.forbidden_tool(part.tool, state)
    name = forbidden or part.tool or "tool"
    kind = memory.kinds.get(name, "other")
    title = tools.title(kind, state)
    input = salvage.raw_copy(state.input)
    started = ToolStarted(id=id, name=name, kind=kind, title=title, input=input)
    status = "denied" if forbidden else _status(name, state)
    code = state.metadata.exit
    finished = ToolFinished(
        id=id,
        status=status,
        name=name,
        kind=kind,
        output=tools.report(state.output) if kind == "subagent" else state.output,
        error=None if status == "ok" else _error(state),
        exit_code=code if isinstance(code, int) else None,
    )
    if status == "denied":
        return (started, _denial(memory, started, _error(state) or ""), finished)
    if status == "ok" and kind in tools.CHANGING:
        return (started, finished, *tools.changes(name, id, state))
    if kind == "subagent" and state.metadata.sessionId is not None:
        return (started, finished, _not_reported(id, state.metadata.sessionId))
    return (started, finished)


def step_finish(memory: Memory, message: shapes.StepFinish, line: bytes) -> Events:
    """Read the end of a request to the model, with its tokens and cost."""
    if message.sessionID != memory.session:
        return _enter(step_finish, memory, message, line)
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
    """Read an error; a step that follows shows that the agent recovered from it."""
    if message.sessionID != memory.session:
        return _enter(error, memory, message, line)
    memory.failure, memory.reason = errors.read(message.error)
    return memory.failure


def _enter(read: Read[Memory], memory: Memory, message: Any, line: bytes) -> Events:
    """Read a message of another session than the last, which may be new."""
    return [*memory.enter(message.sessionID), *as_sequence(read(memory, message, line))]


def _denial(memory: Memory, started: ToolStarted, reason: str) -> PermissionDenied:
    """A call that was not permitted.

    The refused permission may be for the tool, a folder or a repeated call: no message says which,
    so no rule can be suggested. A call that needed approval is allowed by the permission `all`.
    """
    rejected = reason.startswith(_REJECTED)
    memory.rejected = memory.rejected or rejected
    return PermissionDenied(
        tool_id=started.id,
        name=started.name,
        input=started.input,
        reason=reason,
        fix=PERMIT_ALL if rejected else None,  # it does not override a rule that forbids a call
    )


def _status(name: str, state: shapes.ToolState) -> Status:
    """How a call ended: a command that failed is `completed` (case bash_fail)."""
    metadata = state.metadata
    if state.status != "completed":
        error = state.error or ""
        if error.startswith((_REJECTED, _FORBIDDEN)):
            return "denied"
        return "cancelled" if metadata.interrupted or error == _ABORTED else "error"
    if metadata.exit is None:  # the command was stopped (case bash_timeout)
        note = tools.note(state.output) or ""
        return "timed_out" if note.startswith(_TOOK_TOO_LONG) else "cancelled"
    # A call that no tool accepts is answered by the tool `invalid` (case bad_tool_args).
    failed = name == "invalid" or (isinstance(metadata.exit, int) and metadata.exit != 0)
    return "error" if failed else "ok"


def _error(state: shapes.ToolState) -> str | None:
    """The error message of a failed call: its error, why its command was stopped, or its output."""
    return state.error or tools.note(state.output) or state.output


def _not_reported(call: str, session: str) -> UsageReported:
    """The usage of a subagent: it has a session of its own, which no message reports."""
    return UsageReported(message_id=session, scope="session", semantics="final", parent=call)


def _usage(part: shapes.StepFinishPart) -> UsageReported | None:
    """The usage of a step; None if the provider reported none, which is written as zeros.

    Reasoning is counted separately from the output; in events it is part of the output. A
    model without a configured price costs 0, like a free one, so a cost of 0 is left out.
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
        cost_usd=credible(part.cost) or None,
    )


_TABLE: Table[Memory] = {
    shapes.StepStart: step_start,
    shapes.Text: text,
    shapes.Reasoning: reasoning,
    shapes.ToolUse: tool_use,
    shapes.StepFinish: step_finish,
    shapes.Error: error,
}


def decoder_for(
    agent: str, known: Mapping[str, str], kinds: Mapping[str, ToolKind] = tools.KINDS
) -> Callable[..., LineDecoder]:
    """Return a function that makes a decoder for one stream of an agent.

    `known` are the fields that it writes, by type of message, and `kinds` the kinds of its tools.
    """
    return decoder_of(agent, _TABLE, partial(Memory, known, kinds))
