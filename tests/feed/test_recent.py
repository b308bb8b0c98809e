"""The records that are kept in memory for readers that keep up."""

from rookery.feed.recent import Recent
from rookery.model.events import TurnStarted
from rookery.model.records import Record


def batch(first: int, count: int, length: int = 10) -> list[Record]:
    return [Record(n, None, n * length, length, TurnStarted()) for n in range(first, first + count)]


def numbers(records: list[Record] | None) -> list[int] | None:
    return None if records is None else [record.seq for record in records]


def test_records_are_given_from_a_number_on() -> None:
    recent = Recent()
    assert recent.since(0) == []
    recent.add([])
    recent.add(batch(0, 3))
    recent.add(batch(3, 1000))
    recent.add(batch(1003, 2))
    assert numbers(recent.since(0)) == [*range(1005)]
    assert numbers(recent.since(2)) == [*range(2, 1005)]
    assert numbers(recent.since(3)) == [*range(3, 1005)]
    assert numbers(recent.since(1004)) == [1004]
    assert numbers(recent.since(1005)) == []


def test_what_was_given_does_not_grow() -> None:
    recent = Recent()
    mine = batch(0, 2)
    recent.add(mine)
    given = recent.since(0)
    recent.add(batch(2, 1))
    assert numbers(mine) == numbers(given) == [0, 1]


def test_the_oldest_make_room_and_who_wanted_them_is_told() -> None:
    recent = Recent(most_bytes=6000)
    for first in range(0, 1200, 300):
        recent.add(batch(first, 300))
    assert recent.since(599) is None
    assert numbers(recent.since(600)) == [*range(600, 1200)]


def test_what_is_kept_does_not_grow_with_the_stream() -> None:
    recent = Recent(most_bytes=6000)
    for n in range(10_000):
        recent.add(batch(n, 1))
    assert recent.since(9399) is None
    assert numbers(recent.since(9900)) == [*range(9900, 10_000)]


def test_the_last_batch_is_kept_however_large_it_is() -> None:
    recent = Recent(most_bytes=1)
    recent.add(batch(0, 3))
    assert numbers(recent.since(0)) == [0, 1, 2]
