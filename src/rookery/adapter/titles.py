"""Titles of tool calls, taken from their input."""

from functools import cache
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.shapes import NOTHING
from rookery.model.text import one_line

_LONGEST = 200  # a string of an unknown field that makes a good title is short
_LONGEST_KNOWN = 1000  # a known field may be longer

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
    known = None if input is NOTHING else salvage.decode_part(input, _fields_decoder(names))
    if known is not None:
        for name in names:
            text: str | None = getattr(known, name)
            if text:
                return text
    return None


def title_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields, on one line; None if all are missing or empty."""
    text = first_of(input, *names)
    return None if text is None else one_line(text, _LONGEST_KNOWN)


@cache
def _fields_decoder(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    fields = [(name, str | None, None) for name in names]
    return msgspec.json.Decoder(msgspec.defstruct("Fields", fields, gc=False))
