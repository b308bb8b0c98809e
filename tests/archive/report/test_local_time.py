"""Time zones across changes of clocks, and the ends of a period as people write them."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from nightrook.archive.report.local_time import Moment, Zone, period, zone_of
from nightrook.model.errors import OptionError
from tests.archive.report.ledgers import ms

QUARTER_MS = 900_000
wall = datetime  # without a zone, as a clock on a wall


def quarter(moment: str) -> int:
    return ms(moment) // QUARTER_MS


@pytest.mark.parametrize(
    ("name", "spring", "autumn", "winter_h", "summer_h"),
    [
        ("America/Los_Angeles", "2026-03-08T10:00Z", "2026-11-01T09:00Z", -8, -7),
        ("Europe/Berlin", "2026-03-29T01:00Z", "2026-10-25T01:00Z", 1, 2),
    ],
)
def test_the_offsets_of_a_year_change_when_clocks_do(
    name: str, spring: str, autumn: str, winter_h: int, summer_h: int
) -> None:
    first, last = quarter("2026-01-01T00:00Z"), quarter("2026-12-31T00:00Z")
    assert zone_of(name).offsets(first, last) == [
        (first, winter_h * 3600),
        (quarter(spring), summer_h * 3600),
        (quarter(autumn), winter_h * 3600),
    ]


def test_a_zone_that_changes_no_clocks_has_one_offset() -> None:
    first, last = quarter("2020-01-01T00:00Z"), quarter("2026-12-31T00:00Z")
    assert zone_of("Asia/Kolkata").offsets(first, last) == [(first, 19_800)]


def test_times_of_no_calendar_need_no_time_of_ours() -> None:
    assert zone_of("Europe/Berlin").offsets(-5, 2**60)[0] == (0, 3600)
    assert zone_of("Europe/Berlin").offset(1e30) == 3600
    assert zone_of("UTC").offsets(0, 0) == [(0, 0)]


@pytest.mark.parametrize(
    ("shown", "at"),
    [
        (wall(2026, 7, 1, 12), "2026-07-01T10:00Z"),
        (wall(2026, 10, 25, 2, 30), "2026-10-25T00:30Z"),  # clocks show it twice
        (wall(2026, 3, 29, 2, 30), "2026-03-29T01:30Z"),  # and this never
        (wall(2026, 10, 25), "2026-10-24T22:00Z"),
        (wall(2026, 10, 26), "2026-10-25T23:00Z"),
    ],
)
def test_a_local_time_is_found(shown: datetime, at: str) -> None:
    assert zone_of("Europe/Berlin").seconds(shown) * 1000 == ms(at)


def test_a_time_and_what_clocks_show_are_the_same_in_a_zone_without_changes() -> None:
    zone = zone_of("Asia/Kolkata")
    assert zone.wall(0) == wall(1970, 1, 1, 5, 30)
    assert zone.seconds(zone.wall(1e9)) == 1e9


@pytest.mark.parametrize("name", ["Europe/Berlim", "../../etc/passwd", "", "Europe", "a\0b"])
def test_a_name_that_is_not_a_zone_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match="timezone takes the name of a time zone"):
        zone_of(name)


def test_a_typo_is_answered_with_the_nearest_zone() -> None:
    with pytest.raises(OptionError, match=r"did you mean Europe/Berlin\?"):
        zone_of("Europe/Berlim")


@pytest.fixture
def system_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let a test choose the system's zone by TZ, and take it back."""
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("variable", "name", "hours"),
    [
        ("America/Los_Angeles", "America/Los_Angeles", -7),
        (":Europe/Berlin", "Europe/Berlin", 2),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo", 9),
        ("", "UTC", 0),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3", 2),
    ],
)
def test_the_systems_zone_is_the_default(
    system_zone: pytest.MonkeyPatch, variable: str, name: str, hours: int
) -> None:
    system_zone.setenv("TZ", variable)
    time.tzset()
    zone = zone_of(None)
    summer = datetime(2026, 7, 1, tzinfo=UTC).timestamp()
    assert (zone.name, zone.offset(summer)) == (name, hours * 3600)


def test_a_zone_is_a_name_and_an_offset() -> None:
    assert Zone("mine", lambda _: 900).seconds(wall(1970, 1, 1, 1)) == 2700


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
