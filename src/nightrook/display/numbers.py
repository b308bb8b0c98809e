"""Money, times and counts as people read them, the same in runs, loops, batches and reports.

Durations and plurals are in `model/text.py`, since sentences of the model have them, too.
"""

import time
from collections.abc import Collection

from nightrook.model.durations import duration
from nightrook.model.ledger import Money
from nightrook.model.text import count

_TOKENS_IN_MILLIONS = 999_950  # what is less reads better in thousands
_TOKENS_IN_BILLIONS = 999_950_000
_NEXT_UNIT = 999.95  # bytes, kB or MB that would be shown as 1000.0


def price(cost: Money, decimals: int = 4) -> str:
    """Format an amount: `$` is the agent's own figure, `~$` an estimate, `$?` unknown."""
    if cost.usd is None:
        return "$?"
    amount = f"{'' if cost.source == 'native' else '~'}${cost.usd:.{decimals}f}"
    return f"at least {amount}" if cost.at_least else amount


def total_cost(cost: Money, unknown: int, what: str) -> str:
    """Format a sum of costs; if some are unknown, the least it can be."""
    if not unknown:
        return price(cost)
    known = price(Money(cost.usd, cost.source))
    return f"at least {known} ({count(unknown, what)} reported no cost)"


def tokens(number: int) -> str:
    """Format a number of tokens, in thousands, millions or billions."""
    if number < 1000:
        return str(number)
    if number < _TOKENS_IN_MILLIONS:
        return f"{number / 1000:.1f}k"
    if number < _TOKENS_IN_BILLIONS:
        return f"{number / 1e6:.1f}M"
    return f"{number / 1e9:.1f}B"


def size(number: int) -> str:
    """Format a number of bytes: `512 B`, `1.2 kB`, `34.5 MB`."""
    amount, units = float(number), ["B", "kB", "MB", "GB", "TB"]
    while amount >= _NEXT_UNIT and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{number} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"


def percent(share: float) -> str:
    """Format a share of 1."""
    return f"{share * 100:.0f} %"


def changed_lines(added: int | None, removed: int | None) -> str:
    """Format how many lines were added and removed; empty if they were not counted."""
    return "" if added is None or removed is None else f"+{added} −{removed}"


def changed_in_all(files: Collection[tuple[int | None, int | None]]) -> str:
    """Format how many lines several files gained and lost; empty if one was not counted."""
    if not files:
        return ""
    added, removed = ([n for n in numbers if n is not None] for numbers in zip(*files, strict=True))
    complete = len(added) == len(removed) == len(files)
    return changed_lines(sum(added), sum(removed)) if complete else ""


def clock(seconds: float | None) -> str:
    """Format a time that grows: whole seconds only; empty if it is unknown."""
    if seconds is None:
        return ""
    whole = max(0, int(seconds))
    return f"{whole}s" if whole < 60 else duration(whole)


def time_limit(seconds: float) -> str:
    """Format a limit as one would type it: `30s`, `5m`."""
    return f"{seconds / 60:g}m" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g}s"


def moment(at: float | None, now: float) -> str:
    """Format when something happened, in local time: `2 min ago`, `today 09:10`, `03 Nov 14:00`."""
    if at is None:
        return "?"
    past = now - at
    if 0 <= past < 60:
        return "just now"
    if 0 <= past < 3600:
        return f"{past / 60:.0f} min ago"
    then, today = time.localtime(at), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("today %H:%M", then)
    if then[:3] == time.localtime(now - 86_400)[:3]:
        return "yesterday"
    return time.strftime("%d %b %H:%M" if then[0] == today[0] else "%d %b %Y", then)
