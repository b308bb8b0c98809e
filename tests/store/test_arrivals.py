"""The file of arrival times: whole lines only, whatever a crash left of it."""

import tracemalloc

import pytest

from nightrook.store import run_folder
from nightrook.store.arrivals import Arrival, read_arrivals
from nightrook.store.run_folder import RunFolder
from tests.store.samples import append

ARRIVALS = (
    b"1700000000.000000 o 0 100\n"
    b"1700000000.250000 e 0 7\n"
    b"1700000001.000000 O 100 5000\n"
    b"1700000001.500000 o 100 20\n"
    b"1700000002.000000 E 7 1\n"
)
ARRIVED = [
    Arrival(1700000000.0, "stdout", 0, 100, 0),
    Arrival(1700000000.25, "stderr", 0, 7, 0),
    Arrival(1700000001.0, "stdout", 100, 0, 5000),
    Arrival(1700000001.5, "stdout", 100, 20, 0),
    Arrival(1700000002.0, "stderr", 7, 0, 1),
]


def test_arrivals_tell_when_bytes_came_and_where_some_were_lost(folder: RunFolder) -> None:
    assert list(folder.arrivals()) == []
    append(folder, "arrivals", ARRIVALS)
    assert list(folder.arrivals()) == ARRIVED


def test_every_beginning_of_the_arrivals_gives_the_whole_lines_in_it(folder: RunFolder) -> None:
    path = folder.path / "arrivals"
    for end in range(len(ARRIVALS) + 1):
        path.write_bytes(ARRIVALS[:end])
        assert list(folder.arrivals()) == ARRIVED[: ARRIVALS[:end].count(b"\n")]


def test_a_tail_of_zeroes_after_a_power_loss_is_left_out(folder: RunFolder) -> None:
    append(folder, "arrivals", ARRIVALS + b"\0" * 4096)
    assert list(folder.arrivals()) == ARRIVED


def test_damaged_arrivals_are_left_out_and_the_others_read(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "_CHUNK", 37)
    first, rest = ARRIVALS[:26], ARRIVALS[26:]
    junk = [
        b"\n",
        b"1700000000.000000 x 0 1\n",
        b"1700000000.0 o 0 1\n",
        b"nan o 0 1\n",
        b"1700000000.000000 o -1 1\n",
        b"1700000000.000000 o 0 1 1\n",
        b"1700000000.000000 o " + b"9" * 5000 + b" 1\n",
        "1700000000.000000 o ٣ 1\n".encode(),
        b"x" * 10_000 + b"1700000000.000000 o 0 1\n",
    ]
    append(folder, "arrivals", first + b"".join(junk) + rest)
    assert list(folder.arrivals()) == ARRIVED


def test_a_line_without_end_is_not_kept() -> None:
    piece = b"x" * 65536
    tracemalloc.start()
    try:
        assert list(read_arrivals(piece for _ in range(100))) == []
        assert tracemalloc.get_traced_memory()[1] < 10 * len(piece)
    finally:
        tracemalloc.stop()
