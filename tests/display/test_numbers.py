"""Money, times and counts as people read them."""

import time

import pytest

from nightrook.display.numbers import (
    changed_lines,
    clock,
    moment,
    percent,
    price,
    size,
    time_limit,
    tokens,
)
from nightrook.model.ledger import Money


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (Money(0.015, "native"), "$0.0150"),
        (Money(0.015, "estimated"), "~$0.0150"),
        (Money(None, "unknown"), "$?"),
    ],
)
def test_an_amount_shows_its_source(cost: Money, shown: str) -> None:
    assert price(cost) == shown


def test_an_amount_that_grows_has_fewer_decimals() -> None:
    assert price(Money(0.0154, "native"), 3) == "$0.015"


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (999_949, "999.9k"), (999_950, "1.0M")],
)
def test_tokens_are_short(number: int, shown: str) -> None:
    assert tokens(number) == shown


def test_shares_and_lines() -> None:
    assert percent(0.214) == "21 %"
    assert changed_lines(3, 1) == "+3 −1"
    assert changed_lines(None, 1) == changed_lines(1, None) == ""


def test_a_clock_shows_whole_seconds() -> None:
    assert [clock(seconds) for seconds in (-1, 0.9, 59.9, 61)] == ["0s", "0s", "59s", "1m 01s"]


def test_a_limit_is_shown_as_one_would_type_it() -> None:
    assert [time_limit(seconds) for seconds in (0.5, 30, 90, 300)] == ["0.5s", "30s", "90s", "5m"]


def test_a_moment_is_shown_as_seen_from_now() -> None:
    noon = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
    assert moment(None, noon) == "?"
    assert moment(noon - 20, noon) == "just now"
    assert moment(noon - 600, noon) == "10 min ago"
    assert moment(noon - 2 * 3600, noon) == "today 10:00"
    assert moment(noon - 24 * 3600, noon) == "yesterday"
    assert moment(noon - 48 * 3600, noon) == "02 Mar 12:00"
    assert moment(noon - 400 * 86_400, noon) == "28 Jan 2025"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (34_540_000, "34.5 MB"),
        (999_950_000, "1.0 GB"),
        (10**18, "1000000.0 TB"),
    ],
)
def test_sizes_have_a_unit(number: int, text: str) -> None:
    assert size(number) == text
