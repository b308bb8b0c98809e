"""Sums of tokens that agents count in different ways."""

from rookery.adapter.tokens import fresh


def test_what_was_cached_is_no_part_of_the_input() -> None:
    assert fresh(100, 60, 30) == 10
    assert fresh(100, None) == 100
    assert fresh(10, 60) == 0
    assert fresh(None, 60) is None
