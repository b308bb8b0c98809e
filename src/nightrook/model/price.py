"""The cost of tokens, in exact integers; `nightrook.prices` looks the prices up."""

from collections.abc import Callable
from typing import Protocol

import msgspec

NANO = 1_000_000_000
"""Nano-dollars in a dollar; money is summed in nano-dollars."""

PICO_PER_NANO, HALF_NANO = 1000, 500
"""Pico-dollars, in which rates are."""

_MOST_USD = 1e6  # a message, turn or session that costs more is a mistake of its writer


class Amounts(Protocol):
    """The counts of a call that have a price; None counts as 0."""

    @property
    def input(self) -> int | None: ...  # noqa: D102
    @property
    def output(self) -> int | None: ...  # noqa: D102
    @property
    def cache_read(self) -> int | None: ...  # noqa: D102
    @property
    def cache_write_5m(self) -> int | None: ...  # noqa: D102
    @property
    def cache_write_1h(self) -> int | None: ...  # noqa: D102
    @property
    def web_searches(self) -> int | None: ...  # noqa: D102


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Pico-dollars per token, or per search; None if the price is unknown."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    web_search: int | None = None

    def cost(self, usage: Amounts) -> int | None:
        """Nano-dollars for the tokens of one call; None if one of their rates is unknown."""
        total = 0
        for amount, rate in (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write_5m, self.cache_write_5m),
            (usage.cache_write_1h, self.cache_write_1h),
            (usage.web_searches, self.web_search),
        ):
            if amount:
                if rate is None:
                    return None
                total += amount * rate
        return round_pico(total)

    def saved(self, usage: Amounts) -> int | None:
        """Nano-dollars that the cache saved compared to plain input; negative if it cost more."""
        if self.input is None:
            return None
        total = 0
        for amount, rate in (
            (usage.cache_read, self.cache_read),
            (usage.cache_write_5m, self.cache_write_5m),
            (usage.cache_write_1h, self.cache_write_1h),
        ):
            if amount:
                if rate is None:
                    return None
                total += amount * (self.input - rate)
        return round_pico(total)


class Tier(msgspec.Struct, frozen=True):
    """Other rates for a call whose whole input is longer than `above` tokens."""

    above: int
    rates: Rates


class Price(msgspec.Struct, frozen=True):
    """The rates of one model; long inputs may have different ones."""

    rates: Rates
    tiers: tuple[Tier, ...] = ()

    def cost(self, usage: Amounts) -> int | None:
        """Nano-dollars for the tokens of one call; None if one of their rates is unknown."""
        return self.rates_for(usage).cost(usage)

    def saved(self, usage: Amounts) -> int | None:
        """Nano-dollars that the cache saved compared to plain input; negative if it cost more."""
        return self.rates_for(usage).saved(usage)

    @property
    def of_sums(self) -> "Price":
        """The price for sums of several calls, where the length of each input is unknown."""
        return Price(self.rates)

    def rates_for(self, usage: Amounts) -> Rates:
        """The rates for a call, by the length of its input."""
        if not self.tiers:
            return self.rates
        whole = (usage.input or 0) + (usage.cache_read or 0)
        whole += (usage.cache_write_5m or 0) + (usage.cache_write_1h or 0)
        rates = self.rates
        for tier in self.tiers:
            if whole > tier.above:
                rates = tier.rates
        return rates


Prices = Callable[[str, float | None], Price | None]
"""Returns the price of a model at a time (None: now); None if it is unknown."""


def no_prices(model: str, at: float | None) -> None:
    """Return no price: a cost that the agent does not report stays unknown."""
    return


def credible(usd: float | None) -> float | None:
    """Return a cost that an agent reported; None for one that no run can have, as -5 or 1e308."""
    return usd if usd is not None and 0 <= usd <= _MOST_USD else None  # guards: possible-cost


def nano(dollars: float) -> int:
    """Dollars as an agent writes them, in nano-dollars."""
    return round(dollars * NANO)


def dollars(nano_dollars: int) -> float:
    """Nano-dollars in dollars, for people and JSON."""
    return nano_dollars / NANO


def round_pico(pico: int) -> int:
    """Pico-dollars in nano-dollars, to the nearest."""
    if pico >= 0:
        return (pico + HALF_NANO) // PICO_PER_NANO
    return -((HALF_NANO - pico) // PICO_PER_NANO)
