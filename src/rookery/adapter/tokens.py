"""Converts token counts, which agents report in different ways."""


def uncached(input: int | None, *cached: int | None) -> int | None:
    """The uncached input, for agents whose input count includes cached tokens."""
    return None if input is None else max(0, input - sum(count or 0 for count in cached))
