"""The width of text on a terminal, and cutting it to a width: never wider than measured.

Not rich.cells, which takes 3 (emoji) to 20 (ASCII) times as long to measure or cut a line, and
counts joined emoji and flags as 2 columns, where many terminals draw 4 or 6.
"""

from functools import lru_cache
from unicodedata import category, east_asian_width

_EMOJI_SELECTOR = 0xFE0F  # some terminals make the character before it wide
_UNKNOWN_WIDE = (  # wide in a newer Unicode
    range(0x31E4, 0x31F0),
    range(0x16FE0, 0x1B300),
    range(0x1F000, 0x1FB00),
)
_NEWLY_WIDE = (  # since Unicode 16, or on their own only: flags
    range(0x2630, 0x2638),
    range(0x268A, 0x2690),
    range(0x4DC0, 0x4E00),
    range(0x1D300, 0x1D377),
    range(0x1F1E6, 0x1F200),
)
_NOTHING = (range(0x1160, 0x1200), range(0x200B, 0x2010), range(0x2060, 0x2070))
_DOTS = "…"


def width(text: str) -> int:
    """The most columns that text takes; text that is joined may take fewer."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def fit(text: str, most: int) -> str:
    """Cut text to at most this many columns, ending in three dots."""
    if width(text) <= most:
        return text
    if text.isascii():
        return text[: most - 1].rstrip(" ") + _DOTS if most > 0 else ""
    room, taken = most - 1, []
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        taken.append(character)
    return "".join(taken).rstrip("\u200d ") + _DOTS if most > 0 else ""


def wrap(text: str, most: int) -> list[str]:
    """Break text into lines of at most this many columns, between words.

    A word that is wider than a line is broken where the line ends.
    """
    lines, left, most = [], text, max(most, 2)
    while width(left) > most:
        at = _most_characters(left, most)
        blank = left.rfind(" ", 1, at + 1)
        if blank > 0 and width(left[blank + 1 :].partition(" ")[0]) <= most:
            at = blank
        lines.append(left[:at])
        left = left[at:].lstrip(" ")
    return [*lines, left]


def rows(text: str, most: int) -> list[str]:
    """Break text into rows of at most this many columns, after a blank if one is near.

    No character is dropped: the rows together are the text.
    """
    found, start = [], 0
    while len(text) - start > most or width(text[start : start + most]) > most:
        end = start + _most_characters(text[start : start + most], most)
        blank = text.rfind(" ", start + most // 2, end)
        end = blank + 1 if blank > 0 else end
        found.append(text[start:end])
        start = end
    return [*found, text[start:]]


def _most_characters(text: str, most: int) -> int:
    """The number of characters that fit into so many columns, at least one."""
    if text.isascii():
        return min(len(text), most)
    room, at = most, 0
    while at < len(text) and (room := room - _cells(text[at])) >= 0:
        at += 1
    return max(at, 1)


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    code = ord(character)
    if code == _EMOJI_SELECTOR:
        return 1
    kind = category(character)
    if kind in ("Mn", "Me") or _in(code, _NOTHING):
        return 0
    if east_asian_width(character) in "WF" or _in(code, _NEWLY_WIDE):
        return 2
    return 2 if kind == "Cn" and _in(code, _UNKNOWN_WIDE) else 1


def _in(code: int, ranges: tuple[range, ...]) -> bool:
    return any(code in part for part in ranges)
