"""Sums of tokens that agents count in different ways."""

from rookery.adapter.tokens import uncached


def test_what_was_cached_is_no_part_of_the_input() -> None:
    assert uncached(100, 60, 30) == 10
    assert uncached(100, None) == 100
    assert uncached(10, 60) == 0
    assert uncached(None, 60) is None
