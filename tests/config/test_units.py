"""Lengths of time and numbers of bytes, as people write them."""

import pytest

from nightrook.config.units import seconds, size, written_size


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


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5000", 5000),
        ("5000 B", 5000),
        ("500kB", 500_000),
        ("1.5MB", 1_500_000),
        ("10G", 10_000_000_000),
        (" 1 tb ", 10**12),
    ],
)
def test_sizes_are_read(text: str, number: int) -> None:
    assert size(text) == number


@pytest.mark.parametrize("text", ["", "MB", "-1", "1e9", "nan", "10 PB", "1.MB", "9" * 5000])
def test_what_is_not_a_size_is_none(text: str) -> None:
    assert size(text) is None


@pytest.mark.parametrize("text", ["1B", "1500B", "3KB", "500MB", "10GB", "2TB"])
def test_a_size_is_written_as_it_is_read(text: str) -> None:
    number = size(text)
    assert number is not None
    assert written_size(number) == text
