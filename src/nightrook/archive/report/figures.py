"""The values of a report: totals, rows and notes."""

from collections.abc import Iterable
from operator import add
from typing import NamedTuple, Self

import msgspec

from nightrook.model.price import dollars


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of tokens; each token is in one of them."""

    input: int = 0
    """Input that the cache did not serve or store."""

    output: int = 0
    """Output tokens, including reasoning."""

    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Total of tokens."""
        return self.input + self.output + self.cache_read + self.cache_write


class Dollars(msgspec.Struct, frozen=True, kw_only=True):
    """An amount of money in US dollars, by its source."""

    native: float = 0.0
    """Cost that agents report."""

    estimated: float = 0.0
    """Cost of the other calls, at the list prices of their day."""

    @property
    def total(self) -> float:
        """Sum of reported and estimated cost."""
        return self.native + self.estimated


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Usage of a set of calls."""

    tokens: Tokens = Tokens()
    cost_usd: Dollars = Dollars()
    unpriced_tokens: int = 0
    """Tokens of models whose price is unknown; they are in `tokens`, and in no amount of money."""

    calls: int = 0


class CostRow(Figures, frozen=True, kw_only=True):
    """Usage of the calls of one group."""

    keys: dict[str, str | None]
    """Value of each field that the report groups by; None if it has no name."""

    title: str | None = None
    """Title of the session, for a group whose key is a session id."""


class CostReport(msgspec.Struct, frozen=True, kw_only=True):
    """Usage of agents on this machine: the calls of runs and of sessions, each counted once."""

    timezone: str
    by: tuple[str, ...]
    total: Figures
    rows: tuple[CostRow, ...]
    """Times come in their order, everything else by its cost, the highest first."""

    saved_usd: float = 0.0
    """Savings by the cache compared to plain input, at list prices; negative if it cost more."""

    notes: tuple[str, ...] = ()
    """What the figures leave out, one sentence each."""


class Amounts(NamedTuple):
    """Usage of a set of calls, by the names of the ledger's columns."""

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
        """Sort key of groups: money, then tokens."""
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
