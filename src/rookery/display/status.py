"""The status line: what runs now and since when, what was used and what it cost so far."""

from rookery.display import words
from rookery.display.console import cells
from rookery.display.console.paint import Paint
from rookery.model.events import LimitReported
from rookery.model.ledger import Money
from rookery.model.safe import safe_line
from rookery.model.state import RunState

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_S = 10
_SHORTEST_WORDS = 16  # what runs now is not cut below this to make room for figures
_GAP = "   "


def status_line(
    doing: str,
    since: float | None,
    *,
    now: float,
    began: float,
    state: RunState | None,
    width: int,
    paint: Paint,
) -> str:
    """What runs now, cut to a width, and as many figures beside it as there is room for."""
    spinner = _SPINNER[int(now * _FRAMES_PER_S) % len(_SPINNER)]
    clock = "" if since is None else f" {_clock(now - since)}"
    figures = [_clock(now - began), *(_figures(state) if state else ())]
    doing = safe_line(doing)
    fixed = cells.width(f"{spinner} {clock}")
    room = width - fixed
    wanted = min(cells.width(doing), max(_SHORTEST_WORDS, 0))
    while figures and wanted + cells.width(_GAP + " · ".join(figures)) > room:
        figures.pop()
    right = _GAP + " · ".join(figures) if figures else ""
    shown = cells.fit(doing, max(0, room - cells.width(right)))
    line = f"{paint('tool', spinner)} {shown}{clock}{paint('aside', right)}"
    return line if width >= fixed else cells.fit(f"{spinner}{clock}", width)


def money(cost: Money) -> str:
    """An amount while it grows: `$` is the agent's own, `~$` an estimate, `$?` unknown."""
    if cost.usd is None:
        return "$?"
    return f"{'' if cost.source == 'native' else '~'}${cost.usd:.3f}"


def _figures(state: RunState) -> list[str]:
    """The figures, the most wanted first."""
    ledger = state.ledger
    figures = []
    if ledger.has_usage:
        figures += [f"{words.thousands(ledger.tokens.total)} tokens", money(ledger.cost)]
    if state.context_tokens is not None:
        window = state.context_window
        share = f"{state.context_tokens / window:.0%}".replace("%", " %") if window else None
        figures.append(f"context {share or words.thousands(state.context_tokens)}")
    if (limit := _tightest(state)) is not None:
        figures.append(f"{safe_line(words.window(limit.window))} {limit.used:.0%}"[:-1] + " %")
    return figures


def _tightest(state: RunState) -> LimitReported | None:
    """The limit of which most is used, as far as one is told."""
    told = [limit for limit in state.limits.values() if limit.used is not None]
    return max(told, key=lambda limit: limit.used or 0.0, default=None)


def _clock(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole}s" if whole < 60 else words.duration(whole)
