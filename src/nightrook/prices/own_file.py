"""The user's own prices: a TOML file, in dollars per million tokens."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from nightrook.model.errors import ConfigError, NightrookError
from nightrook.model.price import Price, Rates
from nightrook.user_folders import settings_folder

_PICO = {
    "input": 1_000_000,
    "output": 1_000_000,
    "cache_read": 1_000_000,
    "cache_write_5m": 1_000_000,
    "cache_write_1h": 1_000_000,
    "web_search": 1_000_000_000_000,
}
"""The number of pico-dollars per token or search in a dollar of each price."""

_MOST_DOLLARS = 1e9


class PriceFileError(NightrookError):
    """The user's price file is invalid; the message says where and why."""


def price_file_path() -> Path:
    """Return the path of the user's own prices: the file that the setting `prices_file` names."""
    from nightrook.config.user_settings import prices_file  # a quick start

    return prices_file() or settings_folder() / "prices.toml"


def price_file_problem() -> str | None:
    """Return the problem of the user's price file; None if it is valid or does not exist."""
    try:
        users_prices()
    except PriceFileError as error:
        return f"{error}; costs are not estimated"
    return None


def users_prices() -> Mapping[str, Price]:
    """Read the user's own prices; raises PriceFileError if they, or the settings, are invalid."""
    from nightrook.config.user_settings import prices_file  # a quick start

    try:
        named = prices_file()
    except ConfigError as error:
        raise PriceFileError(str(error)) from error
    path = named or price_file_path()
    return read_price_file(path) if named or path.exists() else {}


def read_price_file(path: str | PathLike[str]) -> dict[str, Price]:
    """Read the user's own prices: a TOML table per model, in dollars per million tokens.

    ["my-model"]
    input = 3.0
    output = 15.0
    cache_read = 0.3
    """
    import tomllib  # slow to import, and most people have no such file

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
        if key not in _PICO:
            keys = ", ".join(_PICO)
            raise PriceFileError(f"{path}: [{model}] {key}: unknown; the keys are {keys}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MOST_DOLLARS:
            raise PriceFileError(f"{path}: [{model}] {key}: must be a price in dollars")
        rates[key] = round(value * _PICO[key])
    return Rates(**rates)
