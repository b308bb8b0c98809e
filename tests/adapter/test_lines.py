"""Lines: any bytes, cut anywhere, become the same lines; what is too long costs no memory."""

import tracemalloc
from collections.abc import Iterable
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.adapter.lines import DEFAULT_CAP, Line, LineBuffer, Oversized
from tests.rules import each

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

MIB = 1024 * 1024
CAP = MIB // 4  # counting memory byte by byte is slow
NOT_NEWLINES = ("\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")

ATOMS = [c.encode() for c in NOT_NEWLINES]
ATOMS += [b"\n", b"\n\n", b"\r\n", b"{}", b"\xff", b"\x85", b"", b"\\", b'"', b'\\"']
hostile = st.lists(st.sampled_from(ATOMS) | st.binary(max_size=20)).map(b"".join)


@st.composite
def in_pieces(draw: st.DrawFn) -> list[bytes]:
    return cut_at(data := draw(hostile), draw(st.lists(st.integers(0, len(data)))))


def cut_at(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = sorted({0, len(data), *cuts})
    return [data[begin:end] for begin, end in pairwise(places)]


def lines_of(pieces: Iterable[bytes], cap: int = DEFAULT_CAP) -> list[Line]:
    buffer = LineBuffer(cap)
    lines = [line for piece in pieces for line in buffer.feed(piece)]
    last = buffer.close()
    return lines if last is None else [*lines, last]


def model(data: bytes, cap: int = DEFAULT_CAP) -> list[Line]:
    """The lines of some bytes by the plainest means."""
    *ended, last = data.split(b"\n")
    whole = [line + b"\n" for line in ended] + ([last] if last else [])
    return [line if len(line.removesuffix(b"\n")) <= cap else ends_of(line, cap) for line in whole]


def ends_of(line: bytes, cap: int) -> Oversized:
    kept = min((cap + 1) // 2, 32 * 1024)
    quotes, escaped = 0, False
    for place, byte in enumerate(line[:-kept]):
        quotes += byte == ord('"') and not escaped and place >= kept
        escaped = byte == ord("\\") and not escaped
    return Oversized(len(line), line[:kept], line[-kept:], quotes, escaped)


@steady
@given(in_pieces())
def test_any_cuts_give_the_same_lines(pieces: list[bytes]) -> None:
    assert lines_of(pieces) == model(b"".join(pieces))


@steady
@given(in_pieces(), st.integers(1, 30))
def test_any_cuts_give_the_same_lines_under_any_cap(pieces: list[bytes], cap: int) -> None:
    assert lines_of(pieces, cap) == model(b"".join(pieces), cap)


@steady
@given(in_pieces())
def test_the_lines_put_together_are_what_was_fed(pieces: list[bytes]) -> None:
    lines = lines_of(pieces)
    assert b"".join(line for line in lines if isinstance(line, bytes)) == b"".join(pieces)


@steady
@given(in_pieces(), st.integers(1, 30))
def test_the_sizes_of_lines_add_up_to_their_places(pieces: list[bytes], cap: int) -> None:
    data, offset = b"".join(pieces), 0
    for line in lines_of(pieces, cap):
        assert data[offset:].startswith(line.head if isinstance(line, Oversized) else line)
        assert offset == 0 or data[offset - 1] == ord("\n")
        offset += len(line)
    assert offset == len(data)


@pytest.mark.parametrize("character", NOT_NEWLINES)
def test_only_a_newline_byte_ends_a_line(character: str) -> None:
    line = b"one" + character.encode() + b"still one\n"
    assert lines_of([line * 2]) == [line, line]


def test_a_newline_byte_ends_a_line_wherever_it_is() -> None:
    assert lines_of([b"\n\na\r\n\xff\n"]) == [b"\n", b"\n", b"a\r\n", b"\xff\n"]


def test_a_line_comes_when_its_newline_does() -> None:
    buffer = LineBuffer()
    fed = [buffer.feed(piece) for piece in (b"a", b"", b"b", b"\nc", b"\n", b"\n", b"d")]
    assert (fed, buffer.close()) == ([[], [], [], [b"ab\n"], [b"c\n"], [b"\n"], []], b"d")


def test_a_last_line_without_newline_is_not_lost() -> None:
    assert lines_of([b"a\nb"]) == [b"a\n", b"b"]


def test_nothing_is_left_after_a_last_newline() -> None:
    buffer = LineBuffer()
    assert (buffer.feed(b"a\n"), buffer.close(), buffer.close()) == ([b"a\n"], None, None)


def test_a_last_line_is_given_once() -> None:
    buffer = LineBuffer()
    assert (buffer.feed(b"a"), buffer.close(), buffer.close()) == ([], b"a", None)


def test_a_line_that_comes_alone_is_not_copied() -> None:
    buffer = LineBuffer()
    line = b'{"type":"result"}\n'
    (alone,) = buffer.feed(line)
    assert alone is line
    changing: Any = bytearray(line)
    (copied,) = buffer.feed(changing)
    assert copied == line
    assert isinstance(copied, bytes)


def test_a_line_that_comes_alone_may_be_too_long_or_the_end_of_another() -> None:
    assert LineBuffer(cap=3).feed(b"1234\n") == [Oversized(5, b"12", b"4\n")]
    buffer = LineBuffer()
    assert buffer.feed(b"be") == []
    assert buffer.feed(b"gun\n") == [b"begun\n"]


@each("cap", [1, 2, 511, 512, 513, 4095, 4096, 5000])
@each("end", [b"", b"\n", b"\nnext\n"])
@each("over", [-1, 0, 1, 2])
def test_a_line_of_just_the_cap_is_kept_and_a_longer_one_is_not(
    cap: int, end: bytes, over: int
) -> None:
    line = bytes(97 + n % 26 for n in range(cap + over))
    cap = max(cap, len(b"next")) if b"next" in end else cap
    data = line + end
    expected = model(data, cap)
    places = {0, 1, *range(max(cap - 4, 0), len(data)), len(data) // 2, 511, 512, 513, 4095, 4096}
    for place in places:
        assert lines_of(cut_at(data, [min(place, len(data))]), cap) == expected
    assert lines_of([bytes([byte]) for byte in data], cap) == expected


def test_a_line_over_the_cap_gives_its_size_and_head_and_the_next_is_read() -> None:
    long = bytes(range(11, 211)) * 100
    lines = lines_of(cut_at(b"a\n" + long + b"\nb\n", range(0, 20_000, 777)), cap=10_000)
    assert lines == [b"a\n", ends_of(long + b"\n", 10_000), b"b\n"]


def test_a_last_line_over_the_cap_has_no_newline_in_its_size() -> None:
    assert lines_of([b"x" * 600, b"y" * 600], 1000) == [Oversized(1200, b"x" * 500, b"y" * 500)]


@pytest.mark.parametrize("cap", [0, -1])
def test_a_cap_must_leave_room_for_a_byte(cap: int) -> None:
    with pytest.raises(ValueError, match="at least 1 byte"):
        LineBuffer(cap)


def peak_of(pieces: Iterable[bytes], cap: int) -> tuple[list[Line], int]:
    """The lines, and the most memory that reading them took."""
    buffer = LineBuffer(cap)
    lines: list[Line] = []
    tracemalloc.start()
    try:
        for piece in pieces:
            lines += buffer.feed(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return lines, peak


def test_a_line_of_100_megabytes_costs_little_memory() -> None:
    chunk = b"x" * (64 * 1024)
    lines, peak = peak_of((chunk if n < 1600 else b"\n" for n in range(1601)), MIB)
    kept = b"x" * 32 * 1024
    assert lines == [Oversized(1600 * len(chunk) + 1, kept, kept[1:] + b"\n")]
    assert peak < 2.5 * MIB


@pytest.mark.slow
@pytest.mark.parametrize("size", [CAP, 3 * CAP])
def test_a_long_line_byte_by_byte_costs_little_memory(size: int) -> None:
    lines, peak = peak_of((b"x" if n < size else b"\n" for n in range(size + 1)), CAP)
    assert lines == model(b"x" * size + b"\n", CAP)
    assert peak < 2.5 * CAP


def cpu_time(size: int, piece: bytes) -> float:
    """The least time of some tries, which noise can only lengthen."""
    tries: list[float] = []
    for _ in range(3):
        buffer = LineBuffer()
        begun = process_time()
        for _ in range(size // len(piece)):
            buffer.feed(piece)
        assert buffer.feed(b"\n")
        tries.append(process_time() - begun)
    return min(tries)


@pytest.mark.parametrize("length", [64, 4096])
def test_the_time_grows_with_the_length_of_a_line_and_no_faster(length: int) -> None:
    piece = b"x" * length
    assert cpu_time(8 * MIB, piece) < 3 * 8 * cpu_time(MIB, piece) + 0.01
