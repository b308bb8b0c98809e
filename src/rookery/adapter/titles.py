"""What a tool call is about, found in its input."""

from functools import cache
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.shapes import NOTHING
from rookery.model.text import one_line

_LONGEST = 200  # a string that says what a call is about is short
_LONGEST_KNOWN = 1000  # a field that is known to say it may be longer

_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


def first_short_string(input: msgspec.Raw) -> str | None:
    """The first short string of an object, on one line; None if it has none."""
    value = None if input is NOTHING else salvage.decode(input, _any_decoder)
    if isinstance(value, dict):
        for item in value.values():
            if isinstance(item, str) and item.strip() and len(item) <= _LONGEST:
                return one_line(item, _LONGEST)
    return None


def first_of(input: msgspec.Raw, *names: str) -> str | None:
    """The first of these fields that an object has and that is not empty; others are skipped."""
    known = None if input is NOTHING else salvage.decode(input, _fields_decoder(names))
    if known is not None:
        for name in names:
            words: str | None = getattr(known, name)
            if words:
                return words
    return None


def title_of(input: msgspec.Raw, *names: str) -> str | None:
    """The first of these fields that an object has, on one line; None if it has none of them."""
    words = first_of(input, *names)
    return None if words is None else one_line(words, _LONGEST_KNOWN)


@cache
def _fields_decoder(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    fields = [(name, str | None, None) for name in names]
    return msgspec.json.Decoder(msgspec.defstruct("Fields", fields, gc=False))
