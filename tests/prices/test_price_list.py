"""The list of prices, and the copy of what was looked up there."""

import subprocess
import sys
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from genai_prices import data_snapshot
from genai_prices.types import ModelPrice

from nightrook.model.price import Price
from nightrook.prices import list_version, price_list
from nightrook.prices.price_list import FILE, PriceList

NOW = datetime(2026, 11, 2, tzinfo=UTC)
MODEL = "claude-sonnet-4-5"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of the user."""
    monkeypatch.setattr(price_list, "_folder", lambda: tmp_path / "nightrook")
    return tmp_path / "nightrook"


def test_the_version_of_the_list_is_that_of_its_package() -> None:
    assert list_version() == version("genai-prices")


def test_a_price_that_was_looked_up_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = PriceList()(MODEL, NOW)
    assert isinstance(first, Price)
    assert cache.joinpath(FILE).stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(price_list, "_listed", _not_asked)
    assert PriceList()(MODEL, NOW) == first


def test_that_a_model_is_unknown_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PriceList()("no such model", NOW) is None
    monkeypatch.setattr(price_list, "_listed", _not_asked)
    assert PriceList()("no such model", NOW) is None


def test_the_copy_of_another_version_is_not_used(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PriceList()(MODEL, NOW)
    monkeypatch.setattr(price_list, "list_version", lambda: "another")
    monkeypatch.setattr(price_list, "_listed", lambda model: None)
    assert PriceList()(MODEL, NOW) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 1}', b"\xff"])
def test_a_damaged_copy_is_replaced(cache: Path, content: bytes) -> None:
    expected = PriceList()(MODEL, NOW)
    cache.joinpath(FILE).write_bytes(content)
    assert PriceList()(MODEL, NOW) == expected
    assert PriceList()._copy is None
    assert cache.joinpath(FILE).read_bytes().startswith(b'{"version":')


def test_without_a_cache_folder_prices_are_known(cache: Path) -> None:
    cache.write_text("a file in its place")
    assert PriceList()(MODEL, NOW) is not None


def test_the_price_of_a_day_is_the_last_that_began() -> None:
    """All models whose prices have changed, on the days around each change."""
    for provider in data_snapshot.get_snapshot().providers:
        for model in provider.models:
            known = tuple(price_list._dated(model))
            for dated in known:
                moment = datetime.fromisoformat(dated.since or "0001-01-01").replace(tzinfo=UTC)
                assert price_list._price(model.get_prices(moment)) == dated.price


def test_a_price_that_depends_on_the_hour_is_not_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = SimpleNamespace(
        prices=[
            SimpleNamespace(constraint=None),
            SimpleNamespace(constraint=SimpleNamespace(start_date=date(2026, 1, 1))),
            SimpleNamespace(constraint=SimpleNamespace(start_time="08:00")),
        ],
        get_prices=lambda moment: ModelPrice(input_mtok=moment.hour),
    )
    monkeypatch.setattr(price_list, "_listed", lambda name: model)
    prices_of = PriceList()
    prices = [prices_of("m", NOW.replace(hour=hour)) for hour in (3, 9)]
    assert [price.rates.input for price in prices if price] == [3_000_000, 9_000_000]
    assert not cache.exists()


@pytest.mark.slow
def test_the_list_is_imported_only_for_a_price_that_is_not_kept(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from nightrook.prices import PriceBook, price_list;"
        f"price_list._folder = lambda: Path({str(tmp_path)!r}); book = PriceBook();"
        "print('genai_prices' in sys.modules); book('gpt-5'); print('genai_prices' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["False", "True"], ["False", "False"]]


def _not_asked(model: str) -> None:
    raise AssertionError(f"{model} was looked up in the list again")
