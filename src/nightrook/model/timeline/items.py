"""The items of a timeline, kept packed so that a run of many calls needs little memory."""

from collections.abc import Sequence
from typing import Any, Literal, overload

import msgspec

from nightrook.model.durations import elapsed_s
from nightrook.model.events import ToolKind
from nightrook.model.text import encodable

ItemKind = Literal[
    "session",
    "turn",
    "message",
    "text",
    "thinking",
    "tool",
    "subagent",
    "file",
    "task",
    "retry",
    "limit",
    "denial",
    "question",
    "error",
    "notice",
    "compaction",
    "model",
    "mode",
    "unknown",
    "unreadable",
]


class Place(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The place of a message in the raw log."""

    offset: int
    length: int


class Item(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing that a viewer lists. What the agent did not say is None.

    | kind | title | name | detail | numbers |
    | --- | --- | --- | --- | --- |
    | session | model | version | working folder | |
    | turn | | origin | why it failed | steps, cost_usd |
    | message, text, thinking | first line | | | size in characters |
    | tool, subagent | what it is about | tool | error | exit_code, size of the output |
    | file | path | change | | added, removed |
    | task | what it is about | kind | summary | |
    | retry | reason | | | number, of |
    | limit | | window | | used |
    | denial | what was denied | tool | rule or permission that would allow it | |
    | question | what is asked for | tool | reason | |
    | error | message | kind | | |
    | notice | text | level | | |
    | compaction | | | | number of tokens before, of after |
    | model | new model | old model | reason | |
    | mode, unknown | name | | | |
    | unreadable | first characters | reason | | size in bytes |
    """

    id: int
    """Its number in the timeline, which never changes."""

    kind: ItemKind
    seq: int
    """The record that began it."""

    revision: int = 0
    """The number of its last change."""

    key: str | None = None
    """The agent's own id of the call, task, text or question."""

    parent: int | None = None
    """The item in which it happened: a subagent's call, or the call that changed a file."""

    turn: int | None = None
    """The turn in which it happened."""

    title: str | None = None
    name: str | None = None
    detail: str | None = None
    tool: ToolKind | None = None
    subagent: str | None = None
    status: str | None = None
    """The status it ended with; None while it is open."""

    begin: float | None = None
    end: float | None = None
    place: Place | None = None
    """The place of its beginning: the text, the tool's input."""

    result: Place | None = None
    """The place of its end: the tool's output, the turn's result."""

    size: int | None = None
    number: int | None = None
    of: int | None = None
    added: int | None = None
    removed: int | None = None
    exit_code: int | None = None
    used: float | None = None
    cost_usd: float | None = None

    @property
    def duration_s(self) -> float | None:
        """The duration, as far as arrival times are known."""
        return elapsed_s(self.begin, self.end)


class PackedItem(Item, frozen=True, gc=False, array_like=True):
    """The same without the names of its fields, as it is kept."""


_encode = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(PackedItem).decode
"""Reads a packed item, to change it."""


def pack(item: PackedItem) -> bytes:
    """Return an item as it is kept."""
    try:
        packed = _encode(item)
    except UnicodeEncodeError:
        packed = _encode(PackedItem(*map(_encodable, msgspec.structs.astuple(item))))
    return bytes(memoryview(packed))  # a copy: the encoder leaves room behind its result


def _encodable(value: Any) -> Any:
    return encodable(value) if isinstance(value, str) else value


class Items(Sequence[Item]):
    """The items of a timeline, in the order in which they began."""

    def __init__(self, packed: list[bytes]) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [_item(packed) for packed in self._packed[index]]
        return _item(self._packed[index])


def _item(packed: bytes) -> Item:
    return Item(*msgspec.structs.astuple(unpack(packed)))
