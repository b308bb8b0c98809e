"""Drops the oldest items of a stream's state, so that memory stays bounded."""

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def take_oldest(
    items: dict[K, V], size: Callable[[K, V], int], *, most: int, most_size: int
) -> dict[K, V]:
    """Remove and return the oldest items if there are too many, or they are too large in sum.

    About half of what is allowed stays, so that this is rarely needed; the last item always stays.
    """
    sizes = [size(key, value) for key, value in items.items()]
    total = sum(sizes)
    taken: dict[K, V] = {}
    if len(items) <= most and total <= most_size:
        return taken
    for key, one in zip(list(items)[:-1], sizes, strict=False):
        if len(items) <= most // 2 and total <= most_size // 2:
            break
        taken[key] = items.pop(key)
        total -= one
    return taken


def keep_end(pieces: list[str], most: int) -> None:
    """Drop the oldest pieces of a text that is longer than this; about half of it stays."""
    total = sum(map(len, pieces))
    if total <= most:
        return
    first = 0
    while first < len(pieces) - 1 and total > most // 2:
        total -= len(pieces[first])
        first += 1
    del pieces[:first]
