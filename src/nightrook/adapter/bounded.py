"""Keeps what is remembered about a stream from growing with the stream."""

from itertools import islice
from typing import Any


def forget_oldest(things: dict[Any, Any], most: int) -> None:
    """Keep only the last `most` items once there are twice as many.

    Deleting one at a time would be slow: a dict searches for its first key past all deleted ones.
    """
    if len(things) >= 2 * most:
        for key in [*islice(things, len(things) - most)]:
            del things[key]
