"""Converts token counts, which agents report in different ways."""


def uncached(input: int | None, read: int | None, written: int | None = None) -> int | None:
    """The uncached input, for agents whose input count includes cached tokens."""
    if input is None:
        return None
    if read:
        input -= read
    if written:
        input -= written
    return input if input > 0 else 0
