"""A reader made of a table and a memory, which is what most agents need.

An agent that also keeps its sessions on disk has one table of `Row`s for all lines that it writes;
`stream_of` takes those of its stream, and `Stored` (in `adapter.stored`) those of its sessions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, Union

import msgspec

from nightrook.adapter.decoder import Events, LineDecoder
from nightrook.adapter.drift import ALWAYS_LOOKED_AT, type_name, watch
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.memory import Memory
from nightrook.model.events import Event

M = TypeVar("M", bound=Memory)

Read = Callable[[M, Any, bytes], Events]
"""Turns a message and its JSON into events, using the memory of earlier messages."""

Table = Mapping[type[msgspec.Struct], Read[M]]
"""The function that reads each shape of message."""


Where = Literal["stream", "stored", "both", "ledger"]
"""The places of lines of a shape: `both` is in the stream and in stored sessions.

`ledger` is for a stored line that the ledger reads by a smaller shape than the events' or that has
no events at all.
"""


class Row(NamedTuple):
    """A shape of lines in an agent's table, and the function that reads them."""

    shape: type[msgspec.Struct]
    read: Callable[[Any, Any, bytes], Any]
    """Takes the memory, a message and its JSON, and returns events.

    Of a stored line, it may also return what only the ledger needs: `adapter.history.Noted`.
    """

    where: Where = "stream"
    needles: tuple[bytes, ...] = ()
    """Substrings: a stored line of this shape with none of them is of no use to the ledger."""


def stream_of(rows: Iterable[Row]) -> Table[Any]:
    """The part of an agent's table that is about its stream."""
    return {row.shape: row.read for row in rows if row.where in ("stream", "both")}


def stored_of(rows: Iterable[Row]) -> Table[Any]:
    """The part of an agent's table that is about its stored sessions."""
    return {row.shape: row.read for row in rows if row.where != "stream"}


def silent_types(tags: Iterable[str], *, tag_field: str = "type") -> Table[Any]:
    """A table of message types without events of their own."""
    return {
        msgspec.defstruct(tag, [], tag=tag, tag_field=tag_field, gc=False): no_events
        for tag in tags
    }


def no_events(memory: Any, message: Any, line: bytes) -> Sequence[Event]:
    """Read a message that has no event."""
    return ()


def union_of(shapes: Iterable[type[msgspec.Struct]]) -> Any:
    """The union type of shapes, such as those of a table."""
    return Union[tuple(shapes)]  # noqa: UP007 - known only at run time


def decoder_of(
    agent: str, table: Table[M], memory: Callable[[], M], *, silent: Iterable[str] = ()
) -> Callable[..., LineDecoder]:
    """Return a function that makes a decoder for one stream of an agent from a table.

    `silent` are the types of messages without events.
    """
    whole: Table[M] = {**table, **silent_types(silent)}
    shapes = union_of(whole)

    def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
        return LineDecoder(agent, shapes, TableReader(memory(), whole), cap=cap)

    return decoder


class TableReader:
    """Turns messages into events by a table.

    Most streams do not name the version that writes them, so the first `looked_at` messages of
    each type are checked for unknown fields.
    """

    def __init__(self, memory: M, table: Table[M], *, looked_at: int = ALWAYS_LOOKED_AT) -> None:
        self.memory = memory
        self.drift = memory.drift
        self.functions: dict[type[msgspec.Struct], Read[Any]] = dict(table)
        self.table: Mapping[type[msgspec.Struct], Read[Any]] = self.functions
        if looked_at:
            watch(self.functions, self.drift, most=looked_at)

    @property
    def results(self) -> int:
        """The number of finished turns."""
        return self.memory.results

    def type_of(self, message: Any) -> str:
        """The type of a message, for the report of unknown fields."""
        return type_name(type(message))

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open."""
        return self.memory.close()
