"""The table of the lines that Codex writes, and the decoders made of it.

It has three ways of writing: `codex exec --json`, the app server (whose table is in `app_server`),
and the rollouts on disk.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import ChoosingDecoder, Events, LineDecoder
from nightrook.adapter.drift import ALWAYS_LOOKED_AT, type_name, watch
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.reader import (
    Read,
    Row,
    Table,
    TableReader,
    silent_types,
    stream_of,
    union_of,
)
from nightrook.adapter.stored import Stored
from nightrook.adapter.usage import reported
from nightrook.agents.codex import errors, items, rollout, shapes
from nightrook.agents.codex.app_server import reader as app_server
from nightrook.agents.codex.memory import Memory, RolloutFacts, RolloutMemory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event, SessionStarted, TurnFinished, Unknown

_COUNTS_AND_PROMPTS = (b'"token_count"', b'"user_message"', b'"UserMessage"')
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
    events = items.end_turn(memory, cut=True)
    used = message.usage
    if used is not None and (used.input_tokens or used.output_tokens):  # zeros: not counted
        total = items.usage_of(used)
        events.append(reported(total, scope="session", semantics="cumulative"))
    events.append(TurnFinished(ok=True, text=memory.last_text))
    memory.last_text = None
    return events


def turn_failed(memory: Memory, message: shapes.TurnFailed, line: bytes) -> Sequence[Event]:
    """Read the end of a failed turn; the line before usually has the same error."""
    failure = message.error.message if message.error else None
    error = None if failure is None else errors.error(failure)
    events = items.end_turn(memory, cut=False)
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


TABLE = (
    Row(shapes.ThreadStarted, thread_started),
    Row(shapes.TurnStarted, turn_started),
    Row(shapes.TurnCompleted, turn_completed),
    Row(shapes.TurnFailed, turn_failed),
    Row(shapes.ErrorLine, error_line),
    Row(shapes.SessionMeta, rollout.session_meta, "stored", (b'"session_meta"',)),
    Row(shapes.TurnContext, rollout.turn_context, "stored", (b'"turn_context"',)),
    Row(shapes.UsageRecord, rollout.usage_record, "stored", (b'"token_usage_record"',)),
    Row(shapes.EventMessage, rollout.event_message, "stored", _COUNTS_AND_PROMPTS),
    Row(shapes.ResponseItem, rollout.response_item, "stored"),
    Row(shapes.Compacted, rollout.compacted, "stored"),
)
_MESSAGES = stream_of(TABLE)
_ITEM_READERS: Mapping[type[msgspec.Struct], Table[Memory]] = {
    shapes.ItemStarted: _STARTED,
    shapes.ItemUpdated: _UPDATED,
    shapes.ItemCompleted: _COMPLETED,
}


class CodexReader(TableReader):
    """Turns Codex's messages into events."""

    def __init__(self) -> None:
        super().__init__(Memory(KNOWN_FIELDS["codex"]), _MESSAGES)
        for shape, readers in _ITEM_READERS.items():
            tag, watched = type_name(shape), dict(readers)
            watch(watched, self.drift, most=ALWAYS_LOOKED_AT, within=f"{tag}/")
            self.functions[shape] = _item_reader(tag, watched)

    def type_of(self, message: Any) -> str:
        """The message's type, with the type of its item."""
        item = getattr(message, "item", None)
        type = super().type_of(message)
        return type if item is None else f"{type}/{super().type_of(item)}"


_SHAPES = union_of([*_MESSAGES, *_ITEM_READERS])


def exec_decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for one stream of `codex exec --json`."""
    return LineDecoder("codex", _SHAPES, CodexReader(), cap=cap)


def is_rpc(message: Mapping[str, Any]) -> bool:
    """True if a message is one of the app server's: a notification, request or response."""
    params, result = message.get("params"), message.get("result")
    if isinstance(message.get("method"), str) and "jsonrpc" not in message:
        return isinstance(params, dict)
    if "id" not in message or "jsonrpc" in message or "type" in message:
        return False
    return isinstance(result, dict) or isinstance(message.get("error"), dict)


def decoder(*, cap: int = DEFAULT_CAP) -> ChoosingDecoder:
    """Return a decoder for one stream of Codex: of `exec --json`, or of the app server."""
    return ChoosingDecoder(
        "codex",
        is_rpc,
        partial(app_server.decoder, cap=cap),
        partial(exec_decoder, cap=cap),
        cap=cap,
    )


STORED = Stored(
    "codex",
    TABLE,
    RolloutMemory,
    facts=RolloutFacts,
    begin=rollout.begin,
    silent=silent_types(("world_state", "inter_agent_communication_metadata")),
    time="timestamp",
    start=rollout.START,
)
"""Reads rollouts."""


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
