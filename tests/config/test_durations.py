"""Lengths of time as people write them."""

import pytest

from nightrook.config.durations import seconds


@pytest.mark.parametrize(
    ("text", "length"),
    [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("30d", 2_592_000), (".5s", 0.5)],
)
def test_a_time_is_a_number_with_or_without_a_unit(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize(
    "text", ["", "s", "0", "-1", "0m", "5w", "five", "nan", "inf", "1e9", "9e9h"]
)
def test_what_nobody_can_wait_for_is_no_time(text: str) -> None:
    assert seconds(text) is None
