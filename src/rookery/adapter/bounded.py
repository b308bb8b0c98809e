"""What is remembered of a stream must not grow with it."""

from itertools import islice
from typing import Any


def forget_oldest(things: dict[Any, Any], most: int) -> None:
    """Keep only the last `most` things once they are twice as many.

    One by one would be dear: a dict looks for its first key behind all that were deleted.
    """
    if len(things) >= 2 * most:
        for key in [*islice(things, len(things) - most)]:
            del things[key]
