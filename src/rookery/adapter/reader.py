"""A reader that is a table and a memory: what most agents need to have their messages read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, Union

import msgspec

from rookery.adapter.decoder import LineDecoder, Told
from rookery.adapter.drift import ALWAYS_LOOKED_AT, type_name, watch
from rookery.adapter.lines import DEFAULT_CAP
from rookery.adapter.memory import Memory
from rookery.model.events import Event

M = TypeVar("M", bound=Memory)

Read = Callable[[M, Any, bytes], Told]
"""Turns a message and its JSON into events, with a memory of what came before."""

Table = Mapping[type[msgspec.Struct], Read[M]]
"""For each shape of message the function that reads it."""


def silent_types(tags: Iterable[str], *, tag_field: str = "type") -> Table[Any]:
    """A table of types that tell nothing neutral, or nothing that another one does not tell."""
    return {
        msgspec.defstruct(tag, [], tag=tag, tag_field=tag_field, gc=False): say_nothing
        for tag in tags
    }


def say_nothing(memory: Any, message: Any, line: bytes) -> Sequence[Event]:
    """Read a message that has nothing to tell."""
    return ()


def union_of(shapes: Iterable[type[msgspec.Struct]]) -> Any:
    """The union of shapes, such as those of a table."""
    return Union[tuple(shapes)]  # noqa: UP007 - they are known only now


def decoder_of(
    agent: str, table: Table[M], memory: Callable[[], M], *, silent: Iterable[str] = ()
) -> Callable[..., LineDecoder]:
    """Make the function that makes a decoder for one stream of an agent, by a table.

    `silent` are the types of messages that tell nothing.
    """
    whole: Table[M] = {**table, **silent_types(silent)}
    shapes = union_of(whole)

    def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
        return LineDecoder(agent, shapes, TableReader(memory(), whole), cap=cap)

    return decoder


class TableReader:
    """Turns messages into events by a table.

    Most streams do not tell which version writes them, so the first messages of each type are
    looked at for fields that nobody knows: `looked_at` of them.
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
        """How many turns have ended."""
        return self.memory.results

    def type_of(self, message: Any) -> str:
        """The message's type, for the drift report."""
        return type_name(type(message))

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is open."""
        return self.memory.close()
