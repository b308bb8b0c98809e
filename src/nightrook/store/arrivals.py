"""The format of `arrivals`: one line for each append, with its bytes and time."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

Stream = Literal["stdout", "stderr"]

_STREAMS: dict[bytes, Stream] = {b"o": "stdout", b"e": "stderr"}
_ARRIVAL = re.compile(rb"(\d{1,11}\.\d{6}) ([oeOE]) (\d{1,19}) (\d{1,19})")
_LONGEST_ARRIVAL = 256


class Arrival(NamedTuple):
    """Bytes of a log that arrived, or that a full disk lost there."""

    at: float
    stream: Stream
    offset: int
    length: int
    lost: int


def read_arrivals(chunks: Iterable[bytes]) -> Iterator[Arrival]:
    """Read the lines of the file; a torn last line and any damaged one are left out."""
    rest = b""
    for data in chunks:
        *lines, rest = (rest + data).split(b"\n")
        rest = rest[-_LONGEST_ARRIVAL:]
        yield from (arrival for arrival in map(parse_arrival, lines) if arrival is not None)


def parse_arrival(line: bytes) -> Arrival | None:
    """Read one line, without its newline; None if it is damaged."""
    found = _ARRIVAL.fullmatch(line)
    if found is None:
        return None
    at, letter, offset, count = found.groups()
    lost = letter.isupper()
    length = int(count)
    stream = _STREAMS[letter.lower()]
    return Arrival(float(at), stream, int(offset), 0 if lost else length, length if lost else 0)
