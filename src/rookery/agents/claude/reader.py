"""The table of Claude Code's message types, and the decoder built on it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from rookery.adapter.decoder import Events, LineDecoder, as_sequence
from rookery.adapter.lines import DEFAULT_CAP
from rookery.agents.claude import control, endings, shapes, system, talk
from rookery.agents.claude.memory import Memory
from rookery.model.events import Event

_Read = Callable[[Memory, Any, bytes], Events]

_Table = Mapping[type[msgspec.Struct], _Read]

_READERS: _Table = {
    shapes.StreamEvent: talk.stream_event,
    shapes.Assistant: talk.assistant,
    shapes.User: talk.user,
    shapes.ToolResult: talk.tool_result,
    shapes.ToolProgress: talk.tool_progress,
    shapes.System: system.system,
    shapes.Result: endings.result,
    shapes.ControlRequest: control.control_request,
    shapes.ControlResponse: control.control_response,
    shapes.RateLimitEvent: control.rate_limit_event,
    shapes.ToolUseSummary: control.tool_use_summary,
    shapes.AuthStatus: control.auth_status,
    shapes.ConversationReset: control.conversation_reset,
    shapes.CommandLifecycle: control.silent,
    shapes.KeepAlive: control.silent,
    shapes.ControlCancelRequest: control.silent,
    shapes.PromptSuggestion: control.silent,
}


class ClaudeReader:
    """Turns Claude Code's messages into events.

    While an unchecked version writes, or a task's end is held back, every message is watched;
    only a system message can begin or end that.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.drift = self.memory.drift
        self._calm: _Table = {**_READERS, shapes.System: self._system}
        self._watching: _Table = {
            shape: partial(self._watched, read) for shape, read in _READERS.items()
        }
        self._is_calm = False
        self._now = dict(self._watching)
        self.table: _Table = self._now

    @property
    def results(self) -> int:
        """How many turns have ended."""
        return self.memory.results

    def type_of(self, message: Any) -> str:
        """The message's type, with the subtype of system messages."""
        tag = str(type(message).__struct_config__.tag)
        told = isinstance(message, shapes.System) and message.subtype
        return f"{tag}/{message.subtype}" if told else tag

    def _system(self, memory: Memory, message: shapes.System, line: bytes) -> Sequence[Event]:
        if message.subtype in system.SILENT:
            return ()
        events = system.system(memory, message, line)
        self._watch(memory)
        return events

    def _watched(self, read: _Read, memory: Memory, message: Any, line: bytes) -> Events:
        if not memory.checked:
            self.drift.look(self.type_of(message), line)
        awaited = getattr(message, "subtype", None) == "task_notification"
        held = () if awaited else memory.release_task()
        told = read(memory, message, line)
        self._watch(memory)
        return [*held, *as_sequence(told)] if held else told

    def _watch(self, memory: Memory) -> None:
        calm = memory.checked and memory.ended_task is None
        if calm is not self._is_calm:
            self._is_calm = calm
            self._now.update(self._calm if calm else self._watching)

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is open."""
        return self.memory.close()


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Make a decoder for one stream of Claude Code."""
    return LineDecoder("claude", shapes.Shapes, ClaudeReader(), cap=cap)
