"""The table of Codex's message types, and the decoder built on it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.drift import ALWAYS_LOOKED_AT, type_name, watch
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import Read, Table, TableReader
from nightrook.adapter.usage import uncached
from nightrook.agents.codex import errors, items, shapes
from nightrook.agents.codex.memory import Memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event, SessionStarted, TurnFinished, Unknown, UsageReported

_STARTED: Table[Memory] = {
    shapes.CommandStarted: items.command_started,
    shapes.FileChange: items.patch_started,
    shapes.McpToolCall: items.mcp_started,
    shapes.WebSearch: items.search_started,
    shapes.CollabToolCall: items.collab_started,
    shapes.TodoList: items.todo_list,
}
_UPDATED: Table[Memory] = {shapes.TodoList: items.todo_list}
_COMPLETED: Table[Memory] = {
    shapes.AgentMessage: items.agent_message,
    shapes.Reasoning: items.reasoning,
    shapes.CommandCompleted: items.command_completed,
    shapes.FileChange: items.patch_completed,
    shapes.McpToolCall: items.mcp_completed,
    shapes.WebSearch: items.search_completed,
    shapes.CollabToolCall: items.collab_completed,
    shapes.TodoList: items.todo_list,
    shapes.ErrorItem: items.error,
}


def thread_started(memory: Memory, message: shapes.ThreadStarted, line: bytes) -> Sequence[Event]:
    """Read the start of a stream; a resumed thread keeps its id."""
    events = memory.begin_process()
    if message.thread_id not in memory.sessions:
        memory.sessions.add(message.thread_id)
        events.append(SessionStarted(session=message.thread_id))
    return events


def turn_started(memory: Memory, message: shapes.TurnStarted, line: bytes) -> Sequence[Event]:
    """Read the start of the only turn of a process."""
    return memory.begin_turn()


def turn_completed(memory: Memory, message: shapes.TurnCompleted, line: bytes) -> Sequence[Event]:
    """Read the end of a successful turn; the usage is that of the whole thread."""
    events = end_turn(memory, cut=True)
    if (usage := _usage(message.usage)) is not None:
        events.append(usage)
    events.append(TurnFinished(ok=True, text=memory.last_text))
    memory.last_text = None
    return events


def turn_failed(memory: Memory, message: shapes.TurnFailed, line: bytes) -> Sequence[Event]:
    """Read the end of a failed turn; the line before usually has the same error."""
    failure = message.error.message if message.error else None
    error = None if failure is None else errors.error(failure)
    events = end_turn(memory, cut=False)
    if error is not None and failure != memory.failure:
        events.append(error)
    messages = (error.message,) if error is not None and error.message else None
    events.append(TurnFinished(ok=False, errors=messages))
    return events


def error_line(memory: Memory, message: shapes.ErrorLine, line: bytes) -> Sequence[Event]:
    """Read an error, usually the notice of a retry; only `turn.failed` ends the turn."""
    text = message.message or ""
    if (retry := errors.retry(text)) is not None:
        return (retry,)
    memory.failure = text
    return (errors.error(text),)


_READERS: Table[Memory] = {
    shapes.ThreadStarted: thread_started,
    shapes.TurnStarted: turn_started,
    shapes.TurnCompleted: turn_completed,
    shapes.TurnFailed: turn_failed,
    shapes.ErrorLine: error_line,
}
_ITEM_READERS: Mapping[type[msgspec.Struct], Table[Memory]] = {
    shapes.ItemStarted: _STARTED,
    shapes.ItemUpdated: _UPDATED,
    shapes.ItemCompleted: _COMPLETED,
}


class CodexReader(TableReader):
    """Turns Codex's messages into events."""

    def __init__(self) -> None:
        super().__init__(Memory(KNOWN_FIELDS["codex"]), _READERS)
        for shape, readers in _ITEM_READERS.items():
            tag, watched = type_name(shape), dict(readers)
            watch(watched, self.drift, most=ALWAYS_LOOKED_AT, within=f"{tag}/")
            self.functions[shape] = _item_reader(tag, watched)

    def type_of(self, message: Any) -> str:
        """The message's type, with the type of its item."""
        item = getattr(message, "item", None)
        type = super().type_of(message)
        return type if item is None else f"{type}/{super().type_of(item)}"


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of `codex exec --json`."""
    return LineDecoder("codex", shapes.Shapes, CodexReader(), cap=cap)


def end_turn(memory: Memory, *, cut: bool) -> list[Event]:
    """End everything open at the end of a turn; with `cut`, commands were left running."""
    events = memory.begin_turn()
    if cut:
        events += memory.left_running()
    events += memory.abandon()
    memory.end_turn()
    return events


def _usage(usage: shapes.Usage | None) -> UsageReported | None:
    """The thread's tokens so far; None if they were not counted, which Codex writes as zeros."""
    if usage is None or not (usage.input_tokens or usage.output_tokens):
        return None
    read, written = usage.cached_input_tokens, usage.cache_write_input_tokens
    return UsageReported(
        scope="session",
        semantics="cumulative",
        input=uncached(usage.input_tokens, read, written),
        output=usage.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=usage.reasoning_output_tokens,
    )


def _item_reader(tag: str, readers: Table[Memory]) -> Read[Memory]:
    """Return a function that reads messages with an item."""

    def read(memory: Memory, message: Any, line: bytes) -> Events:
        item = message.item
        try:
            known = readers[type(item)]
        except KeyError:  # this type of item is unknown in such a message
            name = f"{tag}/{type_name(type(item))}"
            return (Unknown(name=name, raw=salvage.raw_copy(line)),)
        return known(memory, item, line)

    return read
