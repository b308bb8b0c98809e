"""Looks back in a file for the time of a line that has none: it has that of the line before it."""

import os
from collections.abc import Iterator

import msgspec

from nightrook.adapter.lines import DEFAULT_CAP

_CHUNK = 1 << 20
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.Encoder().encode


def time_before(fd: int, end: int, start: int, field: str) -> bytes | None:
    """A message with nothing but the field of the last line before `end` that has it.

    Looks back to `start`; None if no line there has a time.
    """
    for line in _lines_before(fd, end, start):
        try:
            value = _FIELDS.decode(line).get(field)
        except (ValueError, RecursionError):
            continue
        if value is not None and bytes(value) != b"null":
            return _encode({field: value})
    return None


def _lines_before(fd: int, end: int, start: int) -> Iterator[bytes]:
    """The lines between two positions, the last one first; those that are very long are cut."""
    rest = b""
    while end > start:
        size = min(_CHUNK, end - start)
        end -= size
        rest, *lines = (os.pread(fd, size, end) + rest[:DEFAULT_CAP]).split(b"\n")
        yield from filter(None, reversed(lines))
    yield rest
