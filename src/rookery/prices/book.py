"""Looks up the price of a model, once per model and day."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rookery.model.price import Price, Rates, Tier
from rookery.prices.names import FREE, spellings
from rookery.prices.own_file import PriceFileError, users_prices

_PICO_PER_MILLIONTH = 1_000_000  # a dollar per million tokens is a million pico-dollars a token
_PICO_PER_THOUSANDTH = 1_000_000_000
_KEYS: Mapping[str, tuple[str, int]] = {
    "input": ("input_mtok", _PICO_PER_MILLIONTH),
    "output": ("output_mtok", _PICO_PER_MILLIONTH),
    "cache_read": ("cache_read_mtok", _PICO_PER_MILLIONTH),
    "cache_write_5m": ("cache_write_mtok", _PICO_PER_MILLIONTH),
    "cache_write_1h": ("cache_write_1h_mtok", _PICO_PER_MILLIONTH),
    "web_search": ("web_searches_kcount", _PICO_PER_THOUSANDTH),
}
"""For each rate, its name in the list, and the number of pico-dollars in one of its dollars."""


_SPECIAL_INPUT = {
    "cache_read": "input",
    "cache_write_5m": "input",
    "cache_write_1h": "cache_write_5m",
}
"""Kinds of input, and whose price each has where the list has none for it, as genai-prices does."""

NO_CHARGE = Price(Rates(**dict.fromkeys(_KEYS, 0)))
"""The price of a model that is free."""


class PriceBook:
    """Returns the price of a model at a time; `own` are the user's prices and take precedence.

    Without `own` they are read from the user's price file, when a price is first asked for. While
    that file is invalid, no price is known: `price_file_problem` says why.
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = own
        self._cache: dict[tuple[str, str], Price | None] = {}

    def __call__(self, model: str, at: float | None = None) -> Price | None:
        """Look up a model; None if its price is unknown. Prices change, so the day matters."""
        moment = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
        key = (model, moment.date().isoformat())
        if key not in self._cache:
            self._cache[key] = self._look_up(model, moment)
        return self._cache[key]

    def _look_up(self, model: str, moment: datetime) -> Price | None:
        if self._own is None:
            try:
                self._own = users_prices()
            except PriceFileError:
                return None
        for name in spellings(model):
            if name in self._own:
                return self._own[name]
        return NO_CHARGE if model.strip().endswith(FREE) else _listed(model, moment)


def list_version() -> str:
    """The version of the list of prices, without importing it."""
    found = find_spec("genai_prices")
    folder = Path(found.origin).parent.parent if found and found.origin else Path()
    beside = [path.name for path in folder.glob("genai_prices-*.dist-info")]
    if len(beside) == 1:
        return beside[0].removeprefix("genai_prices-").removesuffix(".dist-info")
    from importlib.metadata import version  # slow to import, and rarely needed

    return version("genai-prices")


def _listed(model: str, moment: datetime) -> Price | None:
    from genai_prices import data_snapshot  # takes a fifth of a second: imported on first use

    snapshot = data_snapshot.get_snapshot()
    for name in spellings(model):
        try:
            _, listed = snapshot.find_provider_model(name, None, None, None)
        except LookupError:
            continue
        return _price(listed.get_prices(moment))
    return None


def _price(listed: Any) -> Price:
    """Convert the list's prices, some of them in tiers, to rates."""
    values = {rate: (getattr(listed, key, None), unit) for rate, (key, unit) in _KEYS.items()}
    starts = {tier.start for value, _ in values.values() for tier in getattr(value, "tiers", ())}
    tiers = tuple(Tier(start, _rates_at(values, start)) for start in sorted(starts))
    return Price(_rates_at(values, None), tiers)


def _rates_at(values: Mapping[str, tuple[Any, int]], start: int | None) -> Rates:
    """The rates of a tier; input that the list has no special price for costs what input costs."""
    rates = {rate: _pico(value, unit, start) for rate, (value, unit) in values.items()}
    for special, usual in _SPECIAL_INPUT.items():
        if rates[special] is None:
            rates[special] = rates[usual]
    return Rates(**rates)


def _pico(value: Any, unit: int, start: int | None) -> int | None:
    if value is None:
        return None
    if hasattr(value, "base"):
        fitting = [t.price for t in value.tiers if start is not None and t.start <= start]
        value = fitting[-1] if fitting else value.base
    pico: int = round(value * unit)
    return pico
