"""Small sums of tokens that agents count in different ways."""


def fresh(input: int | None, *cached: int | None) -> int | None:
    """The input that is in no cache, where an agent counts what was cached in it, too."""
    return None if input is None else max(0, input - sum(count or 0 for count in cached))
