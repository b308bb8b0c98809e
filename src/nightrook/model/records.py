"""A record: an event with its number, arrival time and position in the raw log; its JSON form."""

import re
from typing import Any, Protocol

import msgspec

from nightrook.model.events import FORMAT_VERSION, Event


class Record(msgspec.Struct, frozen=True, gc=False):
    """One event of a stream, with its position in the raw bytes."""

    seq: int
    at: float | None
    offset: int
    length: int
    event: Event


class Decoder(Protocol):
    """Turns the bytes that an agent wrote into records. It never raises on bad input."""

    agent: str
    """The name of the agent whose stream it reads."""

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the next chunk of bytes; return the records that it completes."""

    def close(self) -> list[Record]:
        """End the stream; return the ends of everything open and a final StreamClosed."""


class _Place(msgspec.Struct):
    """The part of a record's JSON object that is not the event."""

    seq: int
    offset: int
    length: int
    at: float | None = None


_encode = msgspec.json.Encoder().encode
_decode_place = msgspec.json.Decoder(_Place).decode
_decode_event = msgspec.json.Decoder(Event).decode


def dump(record: Record) -> bytes:
    """Return a record as one JSON object: seq, offset, length, at if known, then the event."""
    at = b"" if record.at is None else b'"at":%b,' % _encode(record.at)
    place = b'{"seq":%d,"offset":%d,"length":%d,' % (record.seq, record.offset, record.length)
    return place + at + _encode(record.event)[1:]


def load(line: bytes | str) -> Record:
    """Read a record that `dump` wrote; raises msgspec.DecodeError if it isn't one."""
    place = _decode_place(line)
    return Record(place.seq, place.at, place.offset, place.length, _decode_event(line))


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a record."""
    (events,), parts = msgspec.json.schema_components([Event], ref_template="#/$defs/{name}")
    (place,), place_parts = msgspec.json.schema_components([_Place])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:nightrook:record:{FORMAT_VERSION}",
        "title": "Record",
        "description": "One event of an agent's stream, as `rook decode` prints it.",
        "allOf": [_inline(place, place_parts), events],
        "$defs": {name: _indented(part) for name, part in parts.items()},
    }


def _indented(part: dict[str, Any]) -> dict[str, Any]:
    """Indent a description like its docstring: Python 3.13 strips that, earlier versions don't."""
    if "description" not in part:
        return part
    return {**part, "description": re.sub(r"\n(?=\S)", "\n    ", part["description"])}


def _inline(reference: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Replace a reference to the position by its definition, so that `$defs` has only events."""
    return {k: v for k, v in parts[_Place.__name__].items() if k != "title"} if reference else {}
