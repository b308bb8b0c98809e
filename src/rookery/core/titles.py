"""What a tool call is about, and whose tool it calls."""

from typing import Any

import msgspec

from rookery.core import salvage
from rookery.core.text import one_line

_LONGEST = 200  # a string that says what a call is about is short
_LONGEST_KNOWN = 1000  # a field that is known to say it may be longer

_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


def first_short_string(input: msgspec.Raw) -> str | None:
    """The first short string of an object, on one line; None if it has none."""
    value = salvage.decode(input, _any_decoder)
    if isinstance(value, dict):
        for item in value.values():
            if isinstance(item, str) and item.strip() and len(item) <= _LONGEST:
                return one_line(item, _LONGEST)
    return None


def first_field(input: msgspec.Raw, decoder: msgspec.json.Decoder[Any]) -> str | None:
    """The first field of a shape that an input has, on one line; None if it has none of them."""
    known = salvage.decode(input, decoder)
    for words in msgspec.structs.astuple(known) if known is not None else ():
        if words:
            return one_line(words, _LONGEST_KNOWN)
    return None


def split_mcp(
    name: str, *, start: str = "mcp__", between: str = "__"
) -> tuple[str | None, str | None]:
    """Split the name of a tool such as `mcp__server__tool` in server and tool."""
    if not name.startswith(start):
        return None, None
    server, _, tool = name[len(start) :].partition(between)
    return (server, tool) if server and tool else (None, None)
