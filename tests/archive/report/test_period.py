"""The ends of a period, as people write them."""

from datetime import UTC, date, datetime

import pytest

from nightrook.archive.report.period import Moment, period
from nightrook.archive.report.zone import zone_of
from nightrook.model.errors import OptionError
from tests.archive.report.ledgers import ms

BERLIN = zone_of("Europe/Berlin")
NOW = datetime(2026, 11, 16, 22, 30, tzinfo=UTC).timestamp()  # 23:30 in Berlin


@pytest.mark.parametrize(
    ("words", "first", "after"),
    [
        ("2026-11-02", "2026-11-01T23:00Z", "2026-11-02T23:00Z"),
        ("20261102", "2026-11-01T23:00Z", "2026-11-02T23:00Z"),
        ("2026-10-25", "2026-10-24T22:00Z", "2026-10-25T23:00Z"),  # it has 25 hours
        ("2026-12", "2026-11-30T23:00Z", "2026-12-31T23:00Z"),
        ("2026", "2025-12-31T23:00Z", "2026-12-31T23:00Z"),
        ("today", "2026-11-15T23:00Z", "2026-11-16T23:00Z"),
        ("yesterday", "2026-11-14T23:00Z", "2026-11-15T23:00Z"),
        (date(2026, 11, 2), "2026-11-01T23:00Z", "2026-11-02T23:00Z"),
    ],
)
def test_a_day_or_longer_belongs_to_a_period_that_it_ends(
    words: Moment, first: str, after: str
) -> None:
    assert period(words, words, BERLIN, NOW) == (ms(first), ms(after))


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("7d", "2026-11-09T22:30Z"),
        ("90m", "2026-11-16T21:00Z"),
        ("2026-11-02T14:00", "2026-11-02T13:00Z"),
        ("2026-11-02 14:00:30", "2026-11-02T13:00:30Z"),
        ("2026-11-02T14:00Z", "2026-11-02T14:00Z"),
        ("2026-11-02T14:00-08:00", "2026-11-02T22:00Z"),
        (datetime(2026, 11, 2, 14), "2026-11-02T13:00Z"),  # noqa: DTZ001
        (datetime(2026, 11, 2, 14, tzinfo=UTC), "2026-11-02T14:00Z"),
        (1_000_000_000.5, "2001-09-09T01:46:40.500Z"),
    ],
)
def test_a_time_of_day_is_exact(words: Moment, at: str) -> None:
    assert period(words, None, BERLIN, NOW) == (ms(at), None)
    assert period(None, words, BERLIN, NOW) == (None, ms(at))


@pytest.mark.parametrize(
    "words",
    [
        *(
            "",
            "soon",
            "2026-13",
            "2026-02-30",
            "7",
            "-7d",
            "7x",
            "9999",
            "2026-11-02T25:00",
            "1e9d",
        ),
        *("2026-W45", "2026-W45-1"),
    ],
)
def test_words_that_are_not_a_time_are_refused_with_examples(words: str) -> None:
    with pytest.raises(OptionError, match=r"since takes a time such as 7d, today, .*, not"):
        period(words, None, BERLIN, NOW)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_a_number_that_is_not_a_time_is_refused(number: float) -> None:
    with pytest.raises(OptionError, match="until takes a time"):
        period(None, number, BERLIN, NOW)


def test_a_period_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(OptionError, match=r"since takes a time before until \(2026-11-01\)"):
        period("2026-11-02", "2026-11-01", BERLIN, NOW)
    with pytest.raises(OptionError, match="before until"):
        period("1h", "2h", BERLIN, NOW)
