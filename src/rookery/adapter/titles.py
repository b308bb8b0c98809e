"""Titles of tool calls, taken from their input."""

from functools import cache
from typing import Any

import msgspec
from msgspec.structs import astuple

from rookery.adapter import salvage
from rookery.adapter.shapes import NOTHING
from rookery.model.text import one_line

LONGEST_TITLE = 1000
"""The most characters of a title from a known field."""

_LONGEST = 200  # a string of an unknown field that makes a good title is short

_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


def first_short_string(input: msgspec.Raw) -> str | None:
    """The first short string of an object, on one line; None if it has none."""
    value = None if input is NOTHING else salvage.decode_part(input, _any_decoder)
    if isinstance(value, dict):
        for item in value.values():
            if isinstance(item, str) and item.strip() and len(item) <= _LONGEST:
                return one_line(item, _LONGEST)
    return None


def first_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields that is not empty; other fields are skipped."""
    return first_text(input, fields_decoder(names))


def title_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields, on one line; None if all are missing or empty."""
    text = first_text(input, fields_decoder(names))
    return None if text is None else one_line(text, LONGEST_TITLE)


def first_text(input: msgspec.Raw, decoder: msgspec.json.Decoder[Any]) -> str | None:
    """Do what `first_of` does, for the fields of a decoder."""
    known = None if input is NOTHING else salvage.decode_part(input, decoder)
    if known is not None:
        text: str | None
        for text in astuple(known):
            if text:
                return text
    return None


@cache
def fields_decoder(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    """Return a decoder of an object's fields with these names, all of them texts."""
    fields = [(name, str | None, None) for name in names]
    return msgspec.json.Decoder(msgspec.defstruct("Fields", fields, gc=False))
