"""Times as agents write them: offsets, missing milliseconds, numbers, and what isn't a time."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.adapter.shapes import seconds_since_1970

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2026-11-15T12:00:00.277Z", NOON + 0.277),
        ("2026-11-15T12:00:00Z", NOON),
        ("2026-11-15T12:00:00.123456789Z", NOON + 0.123456),
        ("2026-11-15T14:00:00.5+02:00", NOON + 0.5),
        ("2026-11-15T17:30:00+0530", NOON),
        ("2026-11-15T12:00:00", NOON),
        ("2026-11-15 12:00:00", NOON),
        (NOON, NOON),
        (int(NOON), NOON),
        (int(NOON) * 1000 + 277, NOON + 0.277),
    ],
)
def test_a_time_is_read_in_every_form_that_agents_write(written: object, seconds: float) -> None:
    assert seconds_since_1970(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        *("", "now", "2026-13-01T00:00:00Z", "\ud800", "0001-01-01T00:00:00Z"),
        *(0, -1, 10**400, 1e300, float("inf"), float("nan"), -(10**400)),
        *(None, True, [], {}, b"2026-11-15T12:00:00Z"),
    ],
)
def test_anything_else_has_no_time(written: object) -> None:
    assert seconds_since_1970(written) is None


@given(st.one_of(st.text(), st.datetimes().map(str), st.integers(), st.floats(), st.binary()))
def test_a_time_is_a_positive_number_or_none(written: Any) -> None:
    seconds = seconds_since_1970(written)
    assert seconds is None or 0 < seconds < 253_402_300_800
