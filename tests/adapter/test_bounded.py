"""What is remembered of a stream does not grow with it."""

import pytest

from nightrook.adapter.bounded import forget_oldest


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_last_things_are_kept_and_never_twice_as_many(most: int) -> None:
    things: dict[int, None] = {}
    for n in range(100):
        things[n] = None
        forget_oldest(things, most)
        assert len(things) < 2 * most
        assert [*things][-most:] == [*range(max(0, n + 1 - most), n + 1)]
