"""Reading a growing log by position, with the times its bytes came."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightrook.model.errors import UnsafeRunError
from nightrook.process.digest import Digest
from nightrook.store.logs import parse_arrival
from nightrook.story.tail import Tail, last_bytes, log_size, pieces, read_at


def write(folder: Path, name: str, data: bytes) -> None:
    with (folder / name).open("ab") as file:
        file.write(data)


def hear(tail: Tail, bells: bytes) -> None:
    """Have a tail learn from a recorder's bells, as what follows it does."""
    for line in bells.split(b"\n"):
        arrival = parse_arrival(line)
        if arrival is not None and arrival.stream == tail.stream:
            tail.hear(arrival, len(line) + 1)


def test_pieces_come_with_their_times(tmp_path: Path) -> None:
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read() == []
        write(tmp_path, "stdout.raw", b"abcdef")
        write(tmp_path, "arrivals", b"1.000000 o 0 2\n2.000000 e 0 9\n3.000000 o 2 4\n")
        assert tail.read() == [(b"ab", 1.0), (b"cdef", 3.0)]
        assert tail.read() == []
        write(tmp_path, "stdout.raw", b"gh")
        write(tmp_path, "arrivals", b"4.000000 o 6 2\n")
        assert tail.read() == [(b"gh", 4.0)]


def test_bytes_whose_time_is_not_written_yet_are_not_held_back(tmp_path: Path) -> None:
    write(tmp_path, "stdout.raw", b"abcd")
    write(tmp_path, "arrivals", b"1.000000 o 0 2\n2.000000 o 2")
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read() == [(b"ab", 1.0), (b"cd", 1.0)]
        write(tmp_path, "arrivals", b" 2\n3.000000 o 4 1\n")
        write(tmp_path, "stdout.raw", b"e")
        assert tail.read() == [(b"e", 3.0)]


def test_gaps_and_torn_lines_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "stdout.raw", b"ab")
    write(tmp_path, "arrivals", b"nonsense\n1.000000 O 0 99\n2.000000 o 0 2\n")
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read() == [(b"ab", 2.0)]


@pytest.mark.parametrize(
    "line",
    [
        b"1.000000 o nonsense 2\n",
        b"1.000000 o 0 1e9\n",
        b"NaN o 0 2\n",
        b"1e999 o 0 2\n",
        b"999999999999999.000000 o 0 2\n",
        b"1.000000 o 0 " + b"9" * 5000 + b"\n",
        b"1.000000 o 0 \xff\n",
    ],
)
def test_a_damaged_line_of_the_times_is_left_out(line: bytes, tmp_path: Path) -> None:
    write(tmp_path, "stdout.raw", b"ab")
    write(tmp_path, "arrivals", line + b"2.000000 o 0 2\n")
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read() == [(b"ab", 2.0)]


def test_a_log_without_times_is_read_all_the_same(tmp_path: Path) -> None:
    write(tmp_path, "stdout.raw", b"ab")
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read() == [(b"ab", None)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=9), st.booleans()), max_size=20))
def test_whatever_is_written_is_read_once(appends: list[tuple[bytes, bool]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        read: list[bytes] = []
        at = 0
        with Tail(folder, "stdout") as tail:
            for n, (data, look) in enumerate(appends):
                write(folder, "stdout.raw", data)
                write(folder, "arrivals", b"%d.000000 o %d %d\n" % (n, at, len(data)))
                at += len(data)
                if look:
                    read += [piece for piece, _ in tail.read()]
            read += [piece for piece, _ in tail.read()]
        assert b"".join(read) == b"".join(data for data, _ in appends)


def test_a_bell_tells_the_time_without_a_look_at_the_file(tmp_path: Path) -> None:
    with Tail(tmp_path, "stdout") as tail:
        write(tmp_path, "stdout.raw", b"ab")
        hear(tail, b"\n1.000000 o 0 2\n")
        assert tail.read() == [(b"ab", 1.0)]


APPENDS = st.tuples(
    st.sampled_from([b"o", b"e", b"O"]),
    st.integers(min_value=1, max_value=2000),  # how many bytes
    st.booleans(),  # whether its bell is heard
    st.booleans(),  # whether the log is read then
)


@settings(deadline=None)
@given(st.lists(APPENDS, max_size=30))
def test_times_are_right_whichever_bells_are_lost(
    appends: list[tuple[bytes, int, bool, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = {b"o": 0, b"e": 0}
        expected: list[float] = []
        times: list[float | None] = []
        with Tail(folder, "stdout") as tail:
            for n, (letter, size, heard, look) in enumerate(appends):
                line = b"%d.000000 %b %d %d\n" % (n, letter, sizes[letter.lower()], size)
                if letter == b"o":
                    write(folder, "stdout.raw", b"x" * size)
                    expected += [float(n)] * size
                if letter.islower():
                    sizes[letter] += size
                write(folder, "arrivals", line)
                if heard:
                    hear(tail, line)
                if look:
                    times += [at for data, at in tail.read() for _ in data]
            while pieces := tail.read():
                times += [at for data, at in pieces for _ in data]
        assert times == expected


def test_a_log_is_read_at_any_position(tmp_path: Path) -> None:
    assert (log_size(tmp_path, "stdout"), read_at(tmp_path, "stdout", 0, 10)) == (0, b"")
    write(tmp_path, "stdout.raw", b"one\ntwo\n")
    assert log_size(tmp_path, "stdout") == 8
    assert read_at(tmp_path, "stdout", 4, 100) == b"two\n"
    assert read_at(tmp_path, "stdout", 800, 100) == b""
    assert last_bytes(tmp_path, "stdout", 4) == b"two\n"
    assert last_bytes(tmp_path, "stdout", 100) == b"one\ntwo\n"


def test_a_log_is_read_in_pieces_to_its_present_end(tmp_path: Path) -> None:
    data = bytes(range(256)) * 4000
    write(tmp_path, "stderr.raw", data)
    assert b"".join(piece for piece, _ in pieces(tmp_path, "stderr")) == data
    assert list(pieces(tmp_path, "stdout")) == []
    with Tail(tmp_path, "stderr", 1_000_000) as tail:
        assert tail.read() == [(data[1_000_000:], None)]


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


STRANGERS = {"not a plain file": make_fifo, "is a link": make_link}


@pytest.mark.parametrize("what", STRANGERS)
def test_anything_but_a_plain_file_is_refused_without_waiting(tmp_path: Path, what: str) -> None:
    STRANGERS[what](tmp_path / "stdout.raw")
    with Tail(tmp_path, "stdout") as tail, pytest.raises(UnsafeRunError, match=what):
        tail.read()


@pytest.mark.parametrize("what", STRANGERS)
def test_arrivals_that_are_not_a_plain_file_cost_only_the_times(tmp_path: Path, what: str) -> None:
    write(tmp_path, "stdout.raw", b"x")
    STRANGERS[what](tmp_path / "arrivals")
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read() == [(b"x", None)]


@pytest.mark.parametrize(
    "damaged",
    [
        b"nan o 0 1",
        b"1.000000 o x 1",
        b"1.000000 o 0 1e9",
        b"1.000000 o -1 9",
        b"9" * 5000 + b".000000 o 0 1",
        b"1.000000 o 0 " + b"9" * 5000,
        b"1.000000 o \xff 1",
    ],
)
def test_a_damaged_number_in_arrivals_costs_only_a_time(tmp_path: Path, damaged: bytes) -> None:
    write(tmp_path, "stdout.raw", b"ab")
    write(tmp_path, "arrivals", damaged + b"\n1.500000 o 0 2\n")
    with Tail(tmp_path, "stdout") as tail:
        hear(tail, damaged + b"\n")
        assert tail.read() == [(b"ab", 1.5)]


def test_nothing_is_read_after_the_end_that_the_recorder_reported(tmp_path: Path) -> None:
    write(tmp_path, "stdout.raw", b"true" + b"forged")
    with Tail(tmp_path, "stdout") as tail:
        tail.end, tail.digest = 4, Digest()
        assert tail.read() == [(b"true", None)]
        assert tail.read() == []
        assert tail.digest.hexdigest() == hashlib.sha256(b"true").hexdigest()


def test_times_that_come_after_their_log_are_still_read(tmp_path: Path) -> None:
    (tmp_path / "stdout.raw").write_bytes(b"one\n")
    with Tail(tmp_path, "stdout") as tail:
        assert tail.read(timed=True) == []
        (tmp_path / "arrivals").write_bytes(b"7.000000 o 0 4\n")
        assert tail.read(timed=True) == [(b"one\n", 7.0)]
