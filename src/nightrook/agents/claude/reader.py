"""The table of Claude Code's message types, and the decoder built on it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from nightrook.adapter.decoder import Events, LineDecoder, as_sequence
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import Read, Table, TableReader, no_events
from nightrook.agents.claude import control, messages, results, shapes, system
from nightrook.agents.claude.memory import Memory
from nightrook.model.events import Event

_TABLE: Table[Memory] = {
    shapes.StreamEvent: messages.stream_event,
    shapes.Assistant: messages.assistant,
    shapes.User: messages.user,
    shapes.ToolResult: messages.tool_result,
    shapes.ToolProgress: messages.tool_progress,
    shapes.System: system.system,
    shapes.Result: results.result,
    shapes.ControlRequest: control.control_request,
    shapes.ControlResponse: control.control_response,
    shapes.RateLimitEvent: control.rate_limit_event,
    shapes.ToolUseSummary: control.tool_use_summary,
    shapes.AuthStatus: control.auth_status,
    shapes.ConversationReset: control.conversation_reset,
    shapes.CommandLifecycle: no_events,
    shapes.KeepAlive: no_events,
    shapes.ControlCancelRequest: no_events,
    shapes.PromptSuggestion: no_events,
}


class ClaudeReader(TableReader):
    """Turns Claude Code's messages into events.

    The stream names its version, so a stream of a checked version is not checked for unknown
    fields. While the end of a task is held back, every message passes through `_watched`; while an
    unchecked version writes, the first messages of each type do. Only a system message can start or
    end that.
    """

    def __init__(self) -> None:
        super().__init__(Memory(), _TABLE, looked_at=0)
        self._direct: Table[Memory] = {**_TABLE, shapes.System: self._system}
        self._watching: Table[Memory] = {
            shape: partial(self._watched, read) for shape, read in _TABLE.items()
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


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of Claude Code."""
    return LineDecoder("claude", shapes.Shapes, ClaudeReader(), cap=cap)
