"""The limits that providers set on a plan, such as one for five hours: the names of their windows.

Agents report a window by an id. No other module has the words that people read for it.
"""

from typing import NamedTuple

from nightrook.model.text import minute


class _Words(NamedTuple):
    limit: str
    """Its name in a sentence."""

    window: str
    """Its name on a status line."""

    length: str
    """Its name in a table."""


_WINDOWS = {
    "five_hour": _Words("5-hour limit", "5 h window", "5 hours"),
    "seven_day": _Words("7-day limit", "7 d window", "week"),
    "weekly": _Words("weekly limit", "weekly", "week"),
}

USUAL_WINDOWS = "5-hour and weekly"
"""The windows that most plans have, for help texts."""


def used_up(window: str | None, resets_at: float | None) -> str:
    """Say that a limit is used up, and when it resets."""
    known = _WINDOWS.get(window or "")
    name = known.limit if known else f"{window} limit" if window else "provider's limit"
    reset = minute(resets_at)
    return f"the {name} is used up{'' if reset is None else f'; resets {reset}'}"


def window_name(window: str | None) -> str:
    """Name a window in few characters: `5 h window`."""
    known = _WINDOWS.get(window or "")
    return known.window if known else (window or "limit").replace("_", " ")


def window_length(window: str) -> str:
    """Name a window by its length where it is known: `5 hours`."""
    known = _WINDOWS.get(window)
    return known.length if known else window.replace("_", " ")
