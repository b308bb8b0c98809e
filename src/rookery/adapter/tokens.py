"""Converts token counts, which agents report in different ways."""


def uncached(input: int | None, *cached: int | None) -> int | None:
    """The uncached input, for agents whose input count includes cached tokens."""
    if input is None:
        return None
    for count in cached:  # a loop: this runs for every message, and `sum` takes twice as long
        if count:
            input -= count
    return max(0, input)
