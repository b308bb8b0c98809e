"""Lengths of time, in seconds and in words."""

from typing import overload


@overload
def elapsed_s(start: float, end: float) -> float: ...
@overload
def elapsed_s(start: float | None, end: float | None) -> float | None: ...
def elapsed_s(start: float | None, end: float | None) -> float | None:
    """Return the seconds from start to end; None if either is unknown.

    It is never negative: a clock can be set back between two moments that were recorded. This is
    the only place that subtracts the times of a run, a turn or a call.
    """
    return None if start is None or end is None else max(0.0, end - start)


def duration(seconds: float | None) -> str:
    """Format a length of time: `4.2s`, `42s`, `1m 42s`, `2h 05m`."""
    if seconds is None:
        return "?"
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{seconds:.1f}s" if whole < 10 else f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
