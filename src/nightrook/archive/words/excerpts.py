"""Excerpts of texts: the part around the words that were looked for."""

import re
from typing import NamedTuple

from nightrook.archive.words.query import without_accents

_BEFORE, _LENGTH = 60, 200  # characters


class Excerpt(NamedTuple):
    """A part of a text on one line."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words are in it: begin and end, in characters."""


def excerpt(text: str, pattern: re.Pattern[str] | None) -> Excerpt:
    """Cut a text around the first word that was looked for."""
    first = pattern.search(without_accents(text)) if pattern is not None else None
    begin = max(0, first.start() - _BEFORE) if first else 0
    part = " ".join(text[begin : begin + _LENGTH].split())
    shown = ("… " if begin else "") + part + (" …" if begin + _LENGTH < len(text) else "")
    found = pattern.finditer(without_accents(shown)) if pattern is not None else ()
    return Excerpt(shown, tuple(match.span() for match in found))
