"""How the figures of a report are written: money with its source, and the sentences below."""

from collections.abc import Iterator

from nightrook.archive.report.figures import CostReport, Figures
from nightrook.display.numbers import price, tokens
from nightrook.model.ledger import Money, Source

_LEAST_USD = 0.00005  # less is not worth a part of a line: it reads $0.0000
_SMALL_USD = 1.0  # where the cents of the greatest amount say too little


def decimals(figures: Figures) -> int:
    """How many decimals the amounts of a report have, by its total."""
    return 2 if figures.cost_usd.total >= _SMALL_USD else 4


def spent(figures: Figures) -> Money:
    """What calls cost: an estimate if a part is one, the least it can be without some prices."""
    known = figures.cost_usd
    if figures.unpriced_tokens and not known.total:
        return Money(None, "unknown")
    source: Source = "estimated" if known.estimated else "native"
    return Money(known.total, source, bool(figures.unpriced_tokens))


def cost(figures: Figures, digits: int) -> str:
    """What calls cost, in a column beside the tokens without a price."""
    known = spent(figures)
    return price(Money(known.usd, known.source), digits)


def summary(report: CostReport) -> str:
    """How much of the total is native, estimated and unpriced, and what the cache saved.

    Empty if there are no calls. Only calls that were all free cost $0.
    """
    total, digits = report.total, decimals(report.total)
    parts = []
    is_free = total.calls and not total.cost_usd.estimated and not total.unpriced_tokens
    if total.cost_usd.native or is_free:
        parts.append(f"{price(Money(total.cost_usd.native, 'native'), digits)} reported by agents")
    if total.cost_usd.estimated:
        amount = price(Money(total.cost_usd.estimated, "estimated"), digits)
        parts.append(f"{amount} estimated at list prices")
    if total.unpriced_tokens:
        parts.append(f"{tokens(total.unpriced_tokens)} tokens without a price")
    return " · ".join([*parts, *_saved(report.saved_usd, digits)])


def _saved(usd: float, digits: int) -> Iterator[str]:
    if abs(usd) >= _LEAST_USD:
        amount = price(Money(abs(usd), "estimated"), digits)
        yield f"the cache saved {amount}" if usd > 0 else f"the cache cost {amount} more"
