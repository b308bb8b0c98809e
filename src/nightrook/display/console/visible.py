"""Makes blanks and hidden characters visible, where a user decides by every character of a text."""

import re
from collections.abc import Iterator
from itertools import groupby
from unicodedata import category

_MOST_BLANKS = 8  # more in a row are counted
_WIDEST_INDENT = 24
_TAB = " " * 4
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe0e\ufe0f"
_MOST_MARKS = 3  # on one letter; no language needs more
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")  # drawn as nothing
_IGNORED = (  # marks that no terminal draws
    *(range(0x34F, 0x350), range(0x17B4, 0x17B6), range(0x180B, 0x1810)),
    *(range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)),
)
_INDENT = re.compile(r"[-+]?[ \t]*")  # after the mark of a changed line, too
_ASCII_RUNS = re.compile(rf" {{{_MOST_BLANKS + 1},}}|([\x00-\x1f\x7f])\1*")


def visible(text: str) -> str:
    """Text on one line in which nothing is hidden.

    Many blanks become their number (`␠×2600`), a control character its symbol (`␛`), and any other
    character that a terminal leaves blank its code (`‹U+3164›`). The indentation of a line stays.
    """
    match = _INDENT.match(text)
    indent = match[0].replace("\t", _TAB) if match else ""
    if match is None or len(indent) > _WIDEST_INDENT:
        indent, rest = "", text
    else:
        rest = text[match.end() :]
    if rest.isascii():
        return indent + _ASCII_RUNS.sub(lambda run: _counted(run[0][0], len(run[0])), rest)
    return indent + "".join(_shown(rest))


def _shown(text: str) -> Iterator[str]:
    runs = [(character, sum(1 for _ in run)) for character, run in groupby(text)]
    followers = [character for character, _ in runs[1:]] + [""]
    before, marks = "", 0
    for (character, number), after in zip(runs, followers, strict=True):
        marks = marks + number if category(character) in ("Mn", "Me") else 0
        if character == " " or _is_hidden(character, number, before, after, marks):
            yield _counted(character, number)
        else:
            yield character * number
        before = character if not marks else before


def _is_hidden(character: str, number: int, before: str, after: str, marks: int) -> bool:
    """Whether a reader would not see a character, or not what it does to its neighbours."""
    if character in _JOINERS:
        return number > 1 or not (_joins(before) and _joins(after))
    if character in _SELECTORS:
        return number > 1 or category(before or " ") not in ("So", "Sm", "Po", "Nd")
    if marks:
        ignored = any(ord(character) in part for part in _IGNORED)
        return ignored or marks > _MOST_MARKS or category(before or " ")[0] != "L"
    return not character.isprintable() or character in _BLANK_LETTERS


def _joins(neighbour: str) -> bool:
    """Whether a joiner next to this character belongs to a script or an emoji."""
    return neighbour > "\x7f" and neighbour.isprintable() and neighbour not in _BLANK_LETTERS


def _counted(character: str, number: int) -> str:
    """A run of one character that would not be seen."""
    if character == " ":
        return f"␠×{number}" if number > _MOST_BLANKS else " " * number
    code = ord(character)
    symbol = "␡" if code == 0x7F else chr(0x2400 + code) if code < 0x20 else f"‹U+{code:04X}›"
    return symbol if number == 1 else f"{symbol}×{number}"
