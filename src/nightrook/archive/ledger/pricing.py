"""List prices of calls, by model and day. Prices that were looked up are kept in the ledger.

The list of prices takes a fifth of a second to import, so a report that needs no new price never
imports it. When the list or the user's own file changes, all calls are priced again.
"""

import sqlite3
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from nightrook.adapter.history import Call
from nightrook.model.errors import ConfigError
from nightrook.model.events import Usage
from nightrook.model.price import HALF_NANO, PICO_PER_NANO, Price, Prices, Rates, round_pico

_MS_PER_DAY = 86_400_000
_S_PER_DAY = 86_400

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Price | None).decode


class Cost(NamedTuple):
    """Cost of a call at list prices, and savings by the cache; None if it has no price."""

    nano: int | None
    saved_nano: int | None


UNPRICED = Cost(None, None)


class KeptPrices:
    """Prices of models on days, from the ledger or, once for each, from the list."""

    def __init__(self, connection: sqlite3.Connection, prices: Prices) -> None:
        self._connection = connection
        self._prices = prices
        self._known: dict[tuple[str, int], Price | None] = {}
        self._factors: dict[str, int | None] = {}

    def cost(self, call: Call, at: int | None) -> Cost:
        """Price one call; a call without a model or a time has no price."""
        if call.model is None or at is None:
            return UNPRICED
        price = self.price(call.model, at)
        if price is None:
            return UNPRICED
        if call.summed:
            price = price.of_sums
        return self._fast(call, price) if call.fast else priced(call, price)

    def price(self, model: str, at: int) -> Price | None:
        """The price of a model at a time in milliseconds; None if it is unknown."""
        key = (model, at // _MS_PER_DAY)
        try:
            return self._known[key]
        except KeyError:
            found = self._known[key] = self._look_up(*key)
            return found

    def _look_up(self, model: str, day: int) -> Price | None:
        kept = self._connection.execute(
            "SELECT price FROM rates WHERE model = ? AND day = ?", (model, day)
        ).fetchone()
        if kept is not None:
            found: Price | None = _decode(kept[0])
            return found
        price = self._prices(model, float(day * _S_PER_DAY))
        self._connection.execute(
            "INSERT INTO rates VALUES (?, ?, ?)", (model, day, _encode(price).decode())
        )
        return price

    def _fast(self, call: Call, price: Price) -> Cost:
        """Price a call at the provider's fast speed, which makes tokens more expensive."""
        from nightrook.prices.fast import fast_factor

        model = call.model or ""
        if model not in self._factors:
            self._factors[model] = fast_factor(model)
        factor = self._factors[model]
        tokens = priced(msgspec.structs.replace(call, web_searches=0), price)
        searches = price.cost(Usage(web_searches=call.web_searches))
        if factor is None or tokens.nano is None or searches is None:
            return UNPRICED
        saved = tokens.saved_nano
        return Cost(tokens.nano * factor + searches, None if saved is None else saved * factor)


def priced(call: Call, price: Price) -> Cost:
    """Price the tokens and searches of one call."""
    rates = price.rates_for(call)
    return Cost(rates.cost(call), rates.saved(call))


class TokenPrice(NamedTuple):
    """A price whose rates of tokens are all known, for a great number of calls."""

    rates: tuple[int, ...]
    """In the order of the parameters of `token_cost`."""

    tiers: tuple[tuple[int, tuple[int, ...]], ...]
    """Other rates, for input that is longer than a number of tokens."""

    @classmethod
    def of(cls, price: Price | None) -> "TokenPrice | None":
        """A price in this form; None if a rate is unknown."""
        if price is None:
            return None
        rates, *tiers = map(_token_rates, (price.rates, *(tier.rates for tier in price.tiers)))
        if rates is None or None in tiers:
            return None
        above = (tier.above for tier in price.tiers)
        return cls(rates, tuple(zip(above, filter(None, tiers), strict=True)))


def token_cost(
    price: TokenPrice, input: int, output: int, read: int, short: int, long: int
) -> tuple[int, int]:
    """Nano-dollars for tokens, and what the cache saved, as `priced` but in a third of its time."""
    (usual, per_output, per_read, per_short, per_long), tiers = price
    stored = read + short + long
    for above, rates in tiers:
        if input + stored > above:
            usual, per_output, per_read, per_short, per_long = rates
    cached = per_read * read + per_short * short + per_long * long
    saved = usual * stored - cached
    return (
        (usual * input + per_output * output + cached + HALF_NANO) // PICO_PER_NANO,
        (saved + HALF_NANO) // PICO_PER_NANO if saved >= 0 else round_pico(saved),
    )


def _token_rates(rates: Rates) -> tuple[int, ...] | None:
    known = (
        rates.input,
        rates.output,
        rates.cache_read,
        rates.cache_write_5m,
        rates.cache_write_1h,
    )
    return None if None in known else known  # type: ignore[return-value]


def fingerprint() -> str:
    """Return a text that is another one once the price list or the user's own prices are."""
    from nightrook.prices import list_version, price_file_path

    try:
        own = price_file_path().read_bytes()
    except (OSError, ConfigError):  # then there are no prices of the user's own
        own = b""
    return f"{list_version()} {blake2b(own, digest_size=8).hexdigest()}"
