"""A reader that is a table and a memory: what most agents need to have their messages read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from rookery.core.decoder import Told
from rookery.core.drift import ALWAYS_LOOKED_AT, watch
from rookery.core.events import Event
from rookery.core.memory import Memory

M = TypeVar("M", bound=Memory)

Read = Callable[[M, Any, bytes], Told]
"""Turns a message and its JSON into events, with a memory of what came before."""

Table = Mapping[type[msgspec.Struct], Read[M]]
"""For each shape of message the function that reads it."""


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
        """The message's type: its tag."""
        return str(type(message).__struct_config__.tag)

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is open."""
        return self.memory.close()
