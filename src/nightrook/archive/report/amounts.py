"""Whole numbers of tokens and nano-dollars, added up before they become figures for people."""

from collections.abc import Iterable
from operator import add
from typing import NamedTuple, Self

from nightrook.archive.report.figures import CostRow, Dollars, Figures, Tokens
from nightrook.model.price import dollars


class Amounts(NamedTuple):
    """What some calls used, as the ledger has it; the names are those of its columns."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    native_nano: int = 0
    estimated_nano: int = 0
    unpriced_tokens: int = 0
    saved_nano: int = 0

    def plus(self, others: Iterable[int]) -> Self:
        """The sum of both."""
        return type(self)(*map(add, self, others))

    @property
    def weight(self) -> tuple[int, int]:
        """What groups are compared by: money, then tokens."""
        tokens = self.input + self.output + self.cache_read + self.cache_write
        return self.native_nano + self.estimated_nano, tokens

    @property
    def figures(self) -> Figures:
        """The same for people and programs."""
        return Figures(
            tokens=Tokens(
                input=self.input,
                output=self.output,
                cache_read=self.cache_read,
                cache_write=self.cache_write,
            ),
            cost_usd=Dollars(
                native=dollars(self.native_nano), estimated=dollars(self.estimated_nano)
            ),
            unpriced_tokens=self.unpriced_tokens,
            calls=self.calls,
        )

    def row(self, keys: dict[str, str | None], title: str | None) -> CostRow:
        """The same as a row of a report."""
        known = self.figures
        return CostRow(
            keys=keys,
            title=title,
            tokens=known.tokens,
            cost_usd=known.cost_usd,
            unpriced_tokens=known.unpriced_tokens,
            calls=known.calls,
        )
