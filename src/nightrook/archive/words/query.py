"""What a person types, as an expression of SQLite's full-text search."""

import re
import unicodedata
from functools import lru_cache

from nightrook.model.errors import NightrookError

_TERM = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_WORD = re.compile(r"[^\W_]")  # `_` separates words, as for SQLite


class EmptyQueryError(NightrookError):
    """A query without a word to look for."""


def expression(query: str) -> str:
    """Return the expression for words, "phrases", prefixes* and -excluded words.

    A word of several parts, such as `run_all` or `src/main.py`, is a phrase of them. Nothing that a
    person types is an operator of SQLite's own.
    """
    wanted: list[str] = []
    excluded: list[str] = []
    for term in _TERM.finditer(query):
        text = term["phrase"] if term["phrase"] is not None else term["word"]
        if not text or not _WORD.search(text):
            continue
        is_prefix = term["word"] is not None and text.endswith("*")
        quoted = '"' + text.rstrip("*").replace("\0", " ") + '"' + ("*" if is_prefix else "")
        (excluded if term["minus"] else wanted).append(quoted)
    if not wanted:
        raise EmptyQueryError(
            'nothing to look for: name a word, a "phrase" or a prefix*; -word excludes a word'
        )
    together = " AND ".join(wanted)
    return f"({together})" + "".join(f" NOT {term}" for term in excluded)


def marked_words(query: str) -> re.Pattern[str] | None:
    """Return a pattern for the places of the wanted words in a text `without_accents`."""
    parts: list[str] = []
    for term in _TERM.finditer(query):
        text = term["phrase"] if term["phrase"] is not None else term["word"]
        if term["minus"] or not text:
            continue
        words = re.findall(r"[^\W_]+", without_accents(text))
        if words:
            joined = r"[\W_]+".join(map(re.escape, words))
            end = "" if text.endswith("*") else r"(?![^\W_])"
            parts.append(rf"(?<![^\W_]){joined}{end}")
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def without_accents(text: str) -> str:
    """The same text, each letter without its accents, as the index compares them."""
    return text if text.isascii() else "".join(map(_without_accents, text))


@lru_cache(maxsize=4096)
def _without_accents(character: str) -> str:
    parts = unicodedata.normalize("NFD", character)
    return parts[0] if all(map(unicodedata.combining, parts[1:])) else character
