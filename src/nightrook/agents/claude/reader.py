"""The table of the lines that Claude Code writes, and the decoders made of it.

The ledger does not use the table: `calls` is quicker. Its column says which lines those are.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from nightrook.adapter.decoder import Events, LineDecoder, as_sequence
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import (
    Read,
    Row,
    Table,
    TableReader,
    no_events,
    silent_types,
    stored_of,
    stream_of,
    union_of,
)
from nightrook.adapter.stored import transcript_decoder
from nightrook.agents.claude import (
    approvals,
    calls,
    errors,
    messages,
    results,
    sessions,
    shapes,
    system,
)
from nightrook.agents.claude.memory import Memory, SessionMemory
from nightrook.model.events import Event

TABLE = (
    Row(shapes.StreamEvent, messages.stream_event),
    Row(shapes.Assistant, messages.assistant),
    Row(shapes.User, messages.user),
    Row(shapes.ToolResult, messages.tool_result),
    Row(shapes.ToolProgress, messages.tool_progress),
    Row(shapes.System, system.system),
    Row(shapes.Result, results.result),
    Row(shapes.ControlRequest, approvals.control_request),
    Row(shapes.ControlResponse, approvals.control_response),
    Row(shapes.RateLimitEvent, errors.rate_limit_event),
    Row(shapes.ToolUseSummary, system.tool_use_summary),
    Row(shapes.AuthStatus, errors.auth_status),
    Row(shapes.ConversationReset, system.conversation_reset),
    Row(shapes.CommandLifecycle, no_events),
    Row(shapes.KeepAlive, no_events),
    Row(shapes.ControlCancelRequest, no_events),
    Row(shapes.PromptSuggestion, no_events),
    Row(shapes.StoredAssistant, sessions.assistant, "stored", calls.USAGE),
    Row(shapes.StoredUser, sessions.user, "stored"),
    Row(shapes.StoredSystem, sessions.system_line, "stored"),
    Row(shapes.Attachment, sessions.attachment, "stored"),
    Row(shapes.QueueOperation, sessions.queue_operation, "stored", calls.OPENING),
    Row(shapes.Summary, no_events, "stored", calls.TITLE),
    Row(shapes.LastPrompt, no_events, "stored", calls.TITLE),
    Row(shapes.AiTitle, no_events, "stored", calls.TITLE),
    Row(shapes.CustomTitle, no_events, "stored", calls.TITLE),
)
_STREAM = stream_of(TABLE)
_SILENT_LINES = silent_types(
    (
        *("api-request", "api-request-blob", "api-request-shape", "atis-latch", "cost-state"),
        *("mode", "permission-mode", "tools-used", "agent-name", "agent-color"),
        *("file-history-snapshot", "pr-link"),
    )
)


class ClaudeReader(TableReader):
    """Turns Claude Code's messages into events.

    The stream names its version, so a stream of a checked version is not checked for unknown
    fields. While the end of a task is held back, every message passes through `_watched`; while an
    unchecked version writes, the first messages of each type do. Only a system message can start or
    end that.
    """

    def __init__(self) -> None:
        super().__init__(Memory(), _STREAM, looked_at=0)
        self._direct: Table[Memory] = {**_STREAM, shapes.System: self._system}
        self._watching: Table[Memory] = {
            shape: partial(self._watched, read) for shape, read in _STREAM.items()
        }
        self._reason = (True, False)
        self.functions.update(self._watching)

    def type_of(self, message: Any) -> str:
        """The message's type, with the subtype of system messages."""
        tag = super().type_of(message)
        has_subtype = isinstance(message, shapes.System) and message.subtype
        return f"{tag}/{message.subtype}" if has_subtype else tag

    def _system(self, memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
        if message.subtype in system.SILENT:
            return ()
        events = system.system(memory, message, line)
        self._watch(memory)
        return events

    def _watched(self, read: Read[Memory], memory: Memory, message: Any, line: bytes) -> Events:
        looks = not memory.checked and self.drift.look(self.type_of(message), line)
        is_summary = getattr(message, "subtype", None) == "task_notification"
        held = () if is_summary else memory.release_task()
        events = read(memory, message, line)
        self._watch(memory)
        shape = type(message)
        if not looks and memory.ended_task is None and shape is not shapes.System:
            self.functions[shape] = self._direct[shape]
        return [*held, *as_sequence(events)] if held else events

    def _watch(self, memory: Memory) -> None:
        reason = not memory.checked, memory.ended_task is not None
        if reason != self._reason:
            self._reason = reason
            self.functions.update(self._watching if any(reason) else self._direct)


_SHAPES = union_of(_STREAM)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of Claude Code."""
    return LineDecoder("claude", _SHAPES, ClaudeReader(), cap=cap)


session_decoder = transcript_decoder("claude", {**stored_of(TABLE), **_SILENT_LINES}, SessionMemory)
"""Returns a decoder for the events of one stored session."""
