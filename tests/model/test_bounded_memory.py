"""What is remembered about a stream does not grow with it."""

from nightrook.model.bounded_memory import keep_end, take_oldest


def one(_: int, size: int) -> int:
    return size


def test_few_and_small_items_stay() -> None:
    items = {1: 10, 2: 10}
    assert take_oldest(items, one, most=2, most_size=20) == {}
    assert items == {1: 10, 2: 10}


def test_the_oldest_of_too_many_items_are_taken() -> None:
    items = dict.fromkeys(range(10), 1)
    assert take_oldest(items, one, most=8, most_size=100) == dict.fromkeys(range(6), 1)
    assert items == dict.fromkeys(range(6, 10), 1)


def test_the_oldest_of_too_large_items_are_taken_but_never_the_last() -> None:
    items = {1: 50, 2: 30, 3: 90}
    assert take_oldest(items, one, most=8, most_size=100) == {1: 50, 2: 30}
    assert items == {3: 90}
    assert take_oldest(items, one, most=8, most_size=10) == {}


def test_the_end_of_a_long_text_stays() -> None:
    pieces = ["aaaa", "bbbb", "cccc", "d"]
    keep_end(pieces, 13)
    assert pieces == ["aaaa", "bbbb", "cccc", "d"]
    keep_end(pieces, 12)
    assert pieces == ["cccc", "d"]
    keep_end(pieces, 1)
    assert pieces == ["d"]
