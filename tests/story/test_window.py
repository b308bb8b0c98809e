"""The records that are kept in memory for readers that keep up."""

from nightrook.model.events import TurnStarted
from nightrook.model.records import Record
from nightrook.story.window import Window


def batch(first: int, count: int, length: int = 10) -> list[Record]:
    return [Record(n, None, n * length, length, TurnStarted()) for n in range(first, first + count)]


def numbers(records: list[Record] | None) -> list[int] | None:
    return None if records is None else [record.seq for record in records]


def test_records_are_given_from_a_number_on() -> None:
    window = Window()
    assert window.since(0) == []
    window.add([])
    window.add(batch(0, 3))
    window.add(batch(3, 1000))
    window.add(batch(1003, 2))
    assert numbers(window.since(0)) == [*range(1005)]
    assert numbers(window.since(2)) == [*range(2, 1005)]
    assert numbers(window.since(3)) == [*range(3, 1005)]
    assert numbers(window.since(1004)) == [1004]
    assert numbers(window.since(1005)) == []


def test_what_was_given_does_not_grow() -> None:
    window = Window()
    mine = batch(0, 2)
    window.add(mine)
    given = window.since(0)
    window.add(batch(2, 1))
    assert numbers(mine) == numbers(given) == [0, 1]


def test_the_oldest_make_room_and_who_wanted_them_is_told() -> None:
    window = Window(size=6000)
    for first in range(0, 1200, 300):
        window.add(batch(first, 300))
    assert window.since(599) is None
    assert numbers(window.since(600)) == [*range(600, 1200)]


def test_what_is_kept_does_not_grow_with_the_stream() -> None:
    window = Window(size=6000)
    for n in range(10_000):
        window.add(batch(n, 1))
    assert window.since(9399) is None
    assert numbers(window.since(9900)) == [*range(9900, 10_000)]


def test_the_last_batch_is_kept_however_large_it_is() -> None:
    window = Window(size=1)
    window.add(batch(0, 3))
    assert numbers(window.since(0)) == [0, 1, 2]


def test_records_from_a_number_on_can_be_kept_however_old(  # when no log has their bytes
) -> None:
    window = Window(size=6000)
    for first in range(0, 3000, 300):
        window.add(batch(first, 300), keep_from=100)
    assert numbers(window.since(100)) == [*range(100, 3000)]
    assert window.bytes_since(100) == 2900 * 10
    window.add(batch(3000, 300), keep_from=2999)
    assert window.since(100) is None
    assert window.bytes_since(3300) == 0
