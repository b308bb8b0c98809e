"""A reported cost is native, a known model has its list price, all else is unpriced."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.adapter.history import Call
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.ledger.pricing import TokenPrice, priced, token_cost
from nightrook.model.price import Price, Rates, Tier
from tests.archive.ledger.samples import filled, source, totals


def money(path: Path, **fields: object) -> tuple[int, ...]:
    """Native and estimated nano-dollars, and unpriced tokens, of one call."""
    line = Call(**{"id": "1", "session": "a", "at": 1000.0, **fields})  # type: ignore[arg-type]
    with filled(path / "ledger.db", [("file", [line])]) as ledger:
        return totals(ledger)[5:]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"model": "priced", "input": 10, "output": 2}, (0, 20_000, 0)),
        ({"model": "priced", "input": 10, "cost_usd": 0.5}, (500_000_000, 0, 0)),
        ({"model": "priced", "input": 10, "cost_usd": 0.0}, (0, 10_000, 0)),
        ({"model": "other", "input": 10, "cost_usd": 0.0}, (0, 0, 10)),
        ({"model": "other", "cost_usd": 0.0}, (0, 0, 0)),
        ({"input": 3, "cache_write_1h": 4}, (0, 0, 7)),
        ({"model": "priced", "cache_write_1h": 4, "web_searches": 1}, (0, 10_008_000, 0)),
        ({"model": "priced", "input": 1, "fast": True}, (0, 0, 1)),
        ({"model": "priced", "input": 1, "cost_usd": -3.0}, (0, 1_000, 0)),
    ],
)
def test_money_of_a_call(
    tmp_path: Path, fields: dict[str, object], expected: tuple[int, ...]
) -> None:
    assert money(tmp_path, **fields) == expected


def test_a_price_that_changes_within_a_session_holds_from_that_day(tmp_path: Path) -> None:
    def prices(model: str, at: float | None) -> Price:
        return Price(Rates(output=1_000_000 if (at or 0) < 86_400 else 3_000_000))

    lines = [Call(id=str(at), session="a", at=at, model="m", output=1) for at in (9e4, 8e4, 7e4)]
    with Ledger.open(tmp_path / "ledger.db", prices) as ledger:
        with ledger.batch() as batch:
            batch.add(source("file"), lines)
        assert totals(ledger)[6] == 5_000


def test_a_known_price_is_not_looked_up_again(tmp_path: Path) -> None:
    line = Call(id="1", session="a", at=1000.0, model="priced", input=1)
    with filled(tmp_path / "ledger.db", [("file", [line])]):
        pass

    def never(model: str, at: float | None) -> Price:
        raise AssertionError(model)

    with Ledger.open(tmp_path / "ledger.db", never) as ledger, ledger.batch() as batch:
        batch.add(source("file"), [Call(id="2", session="a", at=1001.0, model="priced", input=1)])


def test_all_calls_are_priced_again_when_prices_change(tmp_path: Path) -> None:
    line = Call(id="1", session="a", at=1000.0, model="priced", output=1)
    with filled(tmp_path / "ledger.db", [("file", [line])]) as ledger:
        ledger.reprice("1")
        assert totals(ledger)[6] == 5_000
    with Ledger.open(tmp_path / "ledger.db", lambda *_: Price(Rates(output=1_000))) as ledger:
        ledger.reprice("1")
        assert totals(ledger)[6] == 5_000
        ledger.reprice("2")
        assert totals(ledger)[6] == 1


RATE = st.integers(0, 10**8)
TOKENS = st.integers(0, 300_000)
KNOWN_RATES = st.builds(
    Rates, input=RATE, output=RATE, cache_read=RATE, cache_write_5m=RATE, cache_write_1h=RATE
)


@given(KNOWN_RATES, KNOWN_RATES, st.tuples(TOKENS, TOKENS, TOKENS, TOKENS, TOKENS))
def test_calls_in_great_number_are_priced_as_each_of_them(
    rates: Rates, long_rates: Rates, tokens: tuple[int, int, int, int, int]
) -> None:
    price = Price(rates, (Tier(200_000, long_rates),))
    input, output, read, short, long = tokens
    line = Call(
        id="1",
        session="a",
        input=input,
        output=output,
        cache_read=read,
        cache_write_5m=short,
        cache_write_1h=long,
    )
    quick = TokenPrice.of(price)
    assert quick is not None
    assert token_cost(quick, *tokens) == priced(line, price)


def test_a_price_with_an_unknown_rate_is_not_for_calls_in_great_number() -> None:
    known = Rates(input=1, output=1, cache_read=1, cache_write_5m=1, cache_write_1h=1)
    assert TokenPrice.of(Price(known, (Tier(10, Rates(input=1)),))) is None
    assert TokenPrice.of(Price(Rates(input=1, output=1))) is None
    assert TokenPrice.of(None) is None
