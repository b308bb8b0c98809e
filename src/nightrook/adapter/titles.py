"""Titles of tool calls, taken from their input."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import astuple

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING
from nightrook.model.text import one_line

_LONGEST = 200  # a string of an unknown tool that makes a good title is short
_LONGEST_KNOWN = 1000  # a field of a known tool may be longer

_INFORMING = frozenset(
    {
        *("file_path", "path", "filename", "file", "notebook_path", "dir", "directory", "uri"),
        *("url", "command", "cmd", "pattern", "query", "search", "regex", "question", "prompt"),
        *("description", "subject", "title", "name", "message", "text", "summary", "skill"),
        *("task", "tool", "cron", "schedule", "key", "id"),
    }
)
"""The fields that say what a call of an unknown tool is about."""

_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)


def informing_string(input: msgspec.Raw) -> str | None:
    """The first short string of a field that is known to inform, on one line; None without one."""
    fields = None if input is NOTHING else salvage.decode_part(input, _any_decoder)
    if isinstance(fields, dict):
        for name, text in fields.items():
            short = isinstance(text, str) and text.strip() and len(text) <= _LONGEST
            if short and name in _INFORMING:
                return one_line(text, _LONGEST)
    return None


def first_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields that is not empty; other fields are skipped."""
    return first_reader(names)(input)


def title_of(input: msgspec.Raw, *names: str) -> str | None:
    """The value of the first of these fields, on one line; None if all are missing or empty."""
    text = first_reader(names)(input)
    return None if text is None else one_line(text, _LONGEST_KNOWN)


def title_reader(names: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that makes a title: of these fields, or else what informs."""
    decode = _decoder_of(names).decode
    first = first_reader(names)

    def title(input: msgspec.Raw) -> str | None:
        try:
            text = decode(input).field_0
        except (ValueError, RecursionError):
            text = None
        if text and len(text) <= _LONGEST_KNOWN and text.isprintable() and "  " not in text:
            return text.strip() or informing_string(input)  # as most are
        text = text or first(input)
        return (text and one_line(text, _LONGEST_KNOWN)) or informing_string(input)

    return title


@cache
def first_reader(names: tuple[str, ...]) -> Callable[[msgspec.Raw], str | None]:
    """Return a function that does what `first_of` does, for these fields."""
    decoder = _decoder_of(names)

    def first(input: msgspec.Raw) -> str | None:
        try:
            known = decoder.decode(input)
        except (ValueError, RecursionError):
            known = None if input is NOTHING else salvage.decode_part(input, decoder)
        # Most inputs have the first field: looking at it alone takes a third of the time.
        return known and (known.field_0 or next(filter(None, astuple(known)), None))

    return first


@cache
def _decoder_of(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    """Return a decoder for these fields, which are numbered in its results."""
    fields = {f"field_{n}": name for n, name in enumerate(names)}
    types = [(field, str | None, None) for field in fields]
    return msgspec.json.Decoder(msgspec.defstruct("Fields", types, rename=fields, gc=False))
