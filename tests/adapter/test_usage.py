"""Sums of tokens that agents count in different ways."""

from nightrook.adapter.usage import uncached


def test_cached_tokens_are_not_part_of_the_input() -> None:
    assert uncached(100, 60, 30) == 10
    assert uncached(100, None) == 100
    assert uncached(10, 60) == 0
    assert uncached(None, 60) is None
