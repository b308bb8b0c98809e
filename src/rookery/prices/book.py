"""Looks up the price of a model, once per model and day."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from rookery.model.errors import RookeryError
from rookery.model.price import Price, Rates, Tier
from rookery.prices.names import spellings

_PICO_PER_MILLIONTH = 1_000_000  # a dollar per million tokens is a million pico-dollars a token
_PICO_PER_THOUSANDTH = 1_000_000_000
_MOST_DOLLARS = 1e9
_KEYS: Mapping[str, tuple[str, int]] = {
    "input": ("input_mtok", _PICO_PER_MILLIONTH),
    "output": ("output_mtok", _PICO_PER_MILLIONTH),
    "cache_read": ("cache_read_mtok", _PICO_PER_MILLIONTH),
    "cache_write_5m": ("cache_write_mtok", _PICO_PER_MILLIONTH),
    "cache_write_1h": ("cache_write_1h_mtok", _PICO_PER_MILLIONTH),
    "web_search": ("web_searches_kcount", _PICO_PER_THOUSANDTH),
}
"""For each rate, its name in the list, and the number of pico-dollars in one of its dollars."""


class PriceFileError(RookeryError):
    """The user's price file is invalid; the message says where and why."""


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
                self._own = _users_prices()
            except PriceFileError:
                return None
        for name in spellings(model):
            if name in self._own:
                return self._own[name]
        return _listed(model, moment)


def price_file_path() -> Path:
    """Where the user's own prices are."""
    return user_config_path("rookery", appauthor=False) / "prices.toml"


def price_file_problem() -> str | None:
    """Say why the user's price file is invalid; None if it is valid or does not exist."""
    try:
        _users_prices()
    except PriceFileError as error:
        return f"{error}; costs are not estimated"
    return None


def _users_prices() -> Mapping[str, Price]:
    path = price_file_path()
    return read_price_file(path) if path.exists() else {}


def read_price_file(path: str | PathLike[str]) -> dict[str, Price]:
    """Read the user's own prices: a TOML table per model, in dollars per million tokens.

    ["my-model"]
    input = 3.0
    output = 15.0
    cache_read = 0.3
    """
    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PriceFileError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise PriceFileError(f"{path}: is not UTF-8") from error
    except RecursionError as error:
        raise PriceFileError(f"{path}: is nested too deep") from error
    except ValueError as error:
        raise PriceFileError(f"{path}: has a number with too many digits") from error
    return {model: Price(_own_rates(path, model, table)) for model, table in tables.items()}


def _own_rates(path: object, model: str, table: object) -> Rates:
    if not isinstance(table, dict):
        raise PriceFileError(f"{path}: [{model}] must be a table of prices")
    rates: dict[str, int] = {}
    for key, value in table.items():
        if key not in _KEYS:
            keys = ", ".join(_KEYS)
            raise PriceFileError(f"{path}: [{model}] {key}: unknown; the keys are {keys}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MOST_DOLLARS:
            raise PriceFileError(f"{path}: [{model}] {key}: must be a price in dollars")
        unit = _PICO_PER_THOUSANDTH * 1000 if key == "web_search" else _PICO_PER_MILLIONTH
        rates[key] = round(value * unit)
    return Rates(**rates)


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
    return Rates(**{rate: _pico(value, unit, start) for rate, (value, unit) in values.items()})


def _pico(value: Any, unit: int, start: int | None) -> int | None:
    if value is None:
        return None
    if hasattr(value, "base"):
        fitting = [t.price for t in value.tiers if start is not None and t.start <= start]
        value = fitting[-1] if fitting else value.base
    pico: int = round(value * unit)
    return pico
