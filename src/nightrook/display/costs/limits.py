"""The limits of providers for people: how much of each window is used and left."""

from collections.abc import Sequence

from nightrook.archive.ledger.limits import ReportedLimit
from nightrook.display.console import Paint
from nightrook.display.numbers import moment, percent
from nightrook.display.table import table
from nightrook.model.text import duration

_HEAD = ("AGENT", "PLAN", "WINDOW", "USED", "LEFT", "RESETS", "REPORTED", "")
_WINDOWS = {"five_hour": "5 hours", "weekly": "week", "seven_day": "week"}
_BAR = 20
_UNCUT = 10_000
_NEARLY_USED = 0.8


def limit_lines(
    limits: Sequence[ReportedLimit], *, now: float, width: int | None, paint: Paint
) -> list[str]:
    """Lay out a row for each limit, with a bar for what is used; each line is safe to print."""

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        scarce = (limits[row].used or 0.0) >= _NEARLY_USED
        return paint("bad" if scarce and column in (3, 4, 7) else "text", text)

    rows = [_row(limit, now) for limit in limits]
    return table(_HEAD, rows, width=width or _UNCUT, paint=painted)


def _row(limit: ReportedLimit, now: float) -> tuple[str, ...]:
    return (
        limit.agent,
        limit.plan or "-",
        _WINDOWS.get(limit.window, limit.window.replace("_", " ")),
        "?" if limit.used is None else percent(limit.used),
        "?" if limit.left is None else percent(limit.left),
        "?" if limit.resets_at is None else f"in {duration(limit.resets_at - now)}",
        moment(limit.at, now),
        "" if limit.used is None else _bar(limit.used),
    )


def _bar(used: float) -> str:
    full = round(min(max(used, 0.0), 1.0) * _BAR)
    return "█" * full + "░" * (_BAR - full)
