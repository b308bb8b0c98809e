"""What a tool call is about, found in an input of which nobody knows the fields."""

import msgspec

from rookery.core import salvage
from rookery.core.text import one_line

_LONGEST = 200  # a string that says what a call is about is short

_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


def first_short_string(input: msgspec.Raw) -> str | None:
    """The first short string of an object, on one line; None if it has none."""
    value = salvage.decode(input, _any_decoder)
    if isinstance(value, dict):
        for item in value.values():
            if isinstance(item, str) and item.strip() and len(item) <= _LONGEST:
                return one_line(item, _LONGEST)
    return None
