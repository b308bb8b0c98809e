"""Chooses the oldest of what is kept."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class _Aged(Protocol):
    """Something that takes space and has a time, in seconds since 1970; 0 if it is of no use."""

    @property
    def size(self) -> int: ...

    @property
    def at(self) -> float: ...


Kept = TypeVar("Kept", bound=_Aged)


def to_forget(found: Iterable[Kept], *, before: float | None, most: int | None) -> list[Kept]:
    """What is from before a time, and the oldest until the rest has at most a size.

    What is of no use always goes. The newest come first in what was found.
    """
    chosen, total = [], 0
    for each in found:
        total += each.size
        is_old = before is not None and each.at < before
        if is_old or not each.at or (most is not None and total > most):
            chosen.append(each)
    return chosen
