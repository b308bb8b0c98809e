"""The limits of time, money, tokens and turns, the same for runs, loops, batches and fleets.

`Limits` has one field for each of them and no defaults. Whoever has limits (the options of a run,
the ceilings of a loop, the rights of a worker) converts them to this one value; whoever counts
(the ledger of a run, the state of a loop) makes the same value of what was used. They are compared,
lowered and subtracted only here, where every field is gone through. A new field therefore holds
for all of them, or mypy names the places that do not have a value for it yet.
"""

from collections.abc import Callable, Iterator
from typing import Generic, Literal, TypeVar

import msgspec

LimitKind = Literal["time", "cost", "tokens", "turns"]

Value = TypeVar("Value")
_Other = TypeVar("_Other")


class Limits(msgspec.Struct, Generic[Value], frozen=True, kw_only=True):
    """One value for each thing that can be limited, in the order in which they are checked."""

    time: Value
    """In seconds."""

    cost: Value
    """In dollars."""

    tokens: Value
    turns: Value

    def items(self) -> Iterator[tuple[LimitKind, Value]]:
        """Each kind of limit, with its value."""
        for kind in self.__struct_fields__:
            yield kind, getattr(self, kind)  # type: ignore[misc]

    def values(self) -> tuple[Value, ...]:
        """The values alone, in the same order."""
        return tuple(value for _, value in self.items())

    def map(self, function: Callable[[Value], _Other]) -> "Limits[_Other]":
        """The result of a function for each value."""
        return Limits(**{kind: function(value) for kind, value in self.items()})

    def pairs(self, other: "Limits[_Other]") -> "Limits[tuple[Value, _Other]]":
        """Return the pairs of a value and the same one of other limits."""
        return Limits(**{kind: (value, getattr(other, kind)) for kind, value in self.items()})


Amounts = Limits[float | None]
"""Limits, where None means unlimited, or amounts used, where None means unknown."""

UNLIMITED: Amounts = Limits(time=None, cost=None, tokens=None, turns=None)


def lowest(one: Amounts, other: Amounts) -> Amounts:
    """The lower of each limit."""
    return one.pairs(other).map(lambda both: min((x for x in both if x is not None), default=None))


def left(limits: Amounts, used: Amounts, *, least: Limits[float]) -> Amounts:
    """Return the rest of each limit, but never less than `least`."""

    def of_one(values: tuple[tuple[float | None, float | None], float]) -> float | None:
        (allowed, spent), lowest_left = values
        return None if allowed is None else max(lowest_left, allowed - (spent or 0))

    return limits.pairs(used).pairs(least).map(of_one)
