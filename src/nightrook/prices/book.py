"""Looks up the price of a model, once per model and day."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from nightrook.model.price import Price, Rates
from nightrook.prices.names import FREE, spellings
from nightrook.prices.own_file import PriceFileError, users_prices
from nightrook.prices.price_list import RATES, PriceList

NO_CHARGE = Price(Rates(**dict.fromkeys(RATES, 0)))
"""The price of a model that is free."""


class PriceBook:
    """Returns the price of a model at a time; `own` are the user's prices and take precedence.

    Without `own` they are read from the user's price file, when a price is first asked for. While
    that file is invalid, no price is known: `price_file_problem` says why.
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = own
        self._cache: dict[tuple[str, str], Price | None] = {}
        self._listed = PriceList()

    def __call__(self, model: str, at: float | None = None) -> Price | None:
        """Look up a model; None if its price is unknown. Prices change, so the day matters."""
        moment = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
        key = (model, moment.date().isoformat())
        if key not in self._cache:
            self._cache[key] = self._look_up(model, moment)
        return self._cache[key]

    def load(self) -> None:
        """Load everything that a look-up could need, so that none of them waits; in any thread."""
        if self._own is None:
            with suppress(PriceFileError):
                self._own = users_prices()
        self._listed.load()

    def _look_up(self, model: str, moment: datetime) -> Price | None:
        if self._own is None:
            try:
                self._own = users_prices()
            except PriceFileError:
                return None
        for name in spellings(model):
            if name in self._own:
                return self._own[name]
        return NO_CHARGE if model.strip().endswith(FREE) else self._listed(model, moment)
