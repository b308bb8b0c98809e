"""The list of prices that comes with genai-prices, and a copy of those that were looked up.

The list takes a fifth of a second to import, more than all else that a command does. So the prices
of a model are kept in the user's cache folder once they were looked up, until the list changes.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.model.price import Price, Rates, Tier
from nightrook.prices.names import spellings
from nightrook.store.files import Folder
from nightrook.user_folders import cache_folder

FILE = "prices.json"
"""The name of the copy in the user's cache folder."""

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
"""The name of each rate in the list, and the number of pico-dollars in one of its dollars."""


_SPECIAL_INPUT = {
    "cache_read": "input",
    "cache_write_5m": "input",
    "cache_write_1h": "cache_write_5m",
}
"""The kind whose price each kind of input has if the list has none, as in genai-prices."""

RATES = tuple(_KEYS)
"""The names of the rates."""


class _Dated(msgspec.Struct, frozen=True):
    """The price of a model from a day on."""

    since: str
    """As 2026-11-02; empty for the first price."""

    price: Price | None


class _Copy(msgspec.Struct):
    """The prices that were looked up, by model; those of each in their order."""

    version: str
    models: dict[str, tuple[_Dated, ...]] = {}


class PriceList:
    """Returns the list price of a model at a time; None if it is unknown."""

    def __init__(self) -> None:
        self._copy: _Copy | None = None

    def load(self) -> None:
        """Import the list and read the copy, before a price is asked for."""
        from genai_prices import data_snapshot  # takes a fifth of a second

        data_snapshot.get_snapshot()
        self._copy = self._copy or _load()

    def __call__(self, model: str, moment: datetime) -> Price | None:
        """Look up a model."""
        if self._copy is None:
            self._copy = _load()
        known = self._copy.models.get(model)
        if known is None:
            listed = _listed(model)
            known = tuple(_dated(listed))
            if not known:  # it depends on more than the day
                return _price(listed.get_prices(moment))
            self._copy.models[model] = known
            _save(self._copy)
        place = bisect_right(known, moment.date().isoformat(), key=lambda dated: dated.since)
        return known[place - 1].price


def _load() -> _Copy:
    version = list_version()
    try:
        copy = msgspec.json.decode((_folder() / FILE).read_bytes(), type=_Copy)
    except (OSError, ValueError, RecursionError):
        return _Copy(version)
    return copy if copy.version == version else _Copy(version)  # guards: price-list-version


def _save(copy: _Copy) -> None:
    """Save the copy; without write access, the list is imported again."""
    try:
        with Folder.made(_folder()) as folder:
            folder.replace(FILE, msgspec.json.encode(copy))
    except (OSError, NightrookError):
        pass


def _folder() -> Path:
    return cache_folder()


def list_version() -> str:
    """The version of the list of prices, without importing it."""
    found = find_spec("genai_prices")
    folder = Path(found.origin).parent.parent if found and found.origin else Path()
    beside = [path.name for path in folder.glob("genai_prices-*.dist-info")]
    if len(beside) == 1:
        return beside[0].removeprefix("genai_prices-").removesuffix(".dist-info")
    from importlib.metadata import version  # slow to import, and rarely needed

    return version("genai-prices")


def _listed(model: str) -> Any:
    """Return the list's entry for a model; None if there is none."""
    from genai_prices import data_snapshot  # takes a fifth of a second

    snapshot = data_snapshot.get_snapshot()
    for name in spellings(model):
        try:
            return snapshot.find_provider_model(name, None, None, None)[1]
        except LookupError:
            continue
    return None


def _dated(listed: Any) -> Iterator[_Dated]:
    """All prices of a model in their order; none if they depend on more than the day."""
    if listed is None:
        yield _Dated("", None)
        return
    conditions = listed.prices if isinstance(listed.prices, list) else []
    limits = [each.constraint for each in conditions if each.constraint is not None]
    starts = sorted({limit.start_date for limit in limits if hasattr(limit, "start_date")})
    if any(not hasattr(limit, "start_date") for limit in limits):
        return
    for since in (None, *starts):
        moment = datetime.combine(since or date.min, time(), UTC)
        yield _Dated(since.isoformat() if since else "", _price(listed.get_prices(moment)))


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
