"""The records that are kept in memory for readers that keep up."""

from rookery.core.events import TurnStarted
from rookery.core.records import Record
from rookery.run.recent import Recent


def batch(first: int, count: int, length: int = 10) -> list[Record]:
    return [Record(n, None, n * length, length, TurnStarted()) for n in range(first, first + count)]


def numbers(records: list[Record] | None) -> list[int] | None:
    return None if records is None else [record.seq for record in records]


def test_records_are_given_from_a_number_on() -> None:
    recent = Recent()
    assert recent.since(0) == []
    recent.add([])
    recent.add(batch(0, 3))
    recent.add(batch(3, 2))
    assert numbers(recent.since(0)) == [0, 1, 2, 3, 4]
    assert numbers(recent.since(2)) == [2, 3, 4]
    assert numbers(recent.since(3)) == [3, 4]
    assert numbers(recent.since(5)) == []


def test_the_oldest_make_room_and_who_wanted_them_is_told() -> None:
    recent = Recent(most_bytes=60)
    for first in range(0, 12, 3):
        recent.add(batch(first, 3))
    assert recent.since(5) is None
    assert numbers(recent.since(6)) == [6, 7, 8, 9, 10, 11]


def test_the_last_batch_is_kept_however_large_it_is() -> None:
    recent = Recent(most_bytes=1)
    recent.add(batch(0, 3))
    assert numbers(recent.since(0)) == [0, 1, 2]
