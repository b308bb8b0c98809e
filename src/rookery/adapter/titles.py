"""Titles of tool calls, taken from their input."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import astuple

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
    return first_reader(names)(input)


def title_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields, on one line; None if all are missing or empty."""
    text = first_reader(names)(input)
    return None if text is None else one_line(text, _LONGEST_KNOWN)


def title_reader(names: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that makes a title: of these fields, or else the first short string."""
    first = first_reader(names)

    def title(input: msgspec.Raw) -> str | None:
        text = first(input)
        if text is not None and (line := one_line(text, _LONGEST_KNOWN)):
            return line
        return first_short_string(input)

    return title


@cache
def first_reader(names: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that does what `first_of` does, for these fields."""
    fields = {f"field_{n}": name for n, name in enumerate(names)}
    types = [(field, str | None, None) for field in fields]
    shape = msgspec.defstruct("Fields", types, rename=fields, gc=False)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(shape)

    def first(input: msgspec.Raw) -> str | None:
        try:
            known = decoder.decode(input)
        except (ValueError, RecursionError):
            known = None if input is NOTHING else salvage.decode_part(input, decoder)
        # Most inputs have the first field: looking at it alone takes a third of the time.
        return known and (known.field_0 or next(filter(None, astuple(known)), None))

    return first
