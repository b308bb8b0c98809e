"""Finds the line of each key in a TOML text, which the standard library does not report.

The text must be valid: `tomllib` has read it before. Only keys are understood; values are skipped.
"""

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""+'  # up to two quotes more may stand before the last three
    r"|'''.*?'''+"
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""",
    re.DOTALL,
)
_PLAIN = re.compile(r"""[^"'\[\]{},#\n]+""")


def key_lines(text: str) -> dict[Path, int]:
    """Return the line, from 1, on which each key and each table is first named."""
    text = text.replace("\r\n", "\n")
    lines: dict[Path, int] = {}
    for path, at in _Scan(text).document():
        line = text.count("\n", 0, at) + 1
        for depth in range(1, len(path) + 1):
            lines.setdefault(path[:depth], line)
    return lines


class _Scan:
    """Walks through a text, from key to key."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Iterator[tuple[Path, int]]:
        """Yield every key of the text, with its position."""
        table: Path = ()
        while not self._ends():
            start = self.at
            if self._take("["):
                self._take("[")
                table = self._key()
                while self._take("]"):
                    pass
                yield table, start
            else:
                yield from self._pair(table)

    def _ends(self) -> bool:
        self._skip(_BLANK)
        return self.at >= len(self.text)

    def _pair(self, table: Path) -> Iterator[tuple[Path, int]]:
        start = self.at
        path = table + self._key()
        yield path, start
        self._take("=")
        self._skip(_BLANK)
        yield from self._value(path)

    def _value(self, path: Path) -> Iterator[tuple[Path, int]]:
        if self._take("{"):
            yield from self._inline_table(path)
        elif self._take("["):
            yield from self._array(path)
        elif not self._skip(_STRING):
            self._skip(_PLAIN)

    def _inline_table(self, path: Path) -> Iterator[tuple[Path, int]]:
        self._skip(_BLANK)
        while not self._take("}"):
            yield from self._pair(path)
            self._skip(_BLANK)
            self._take(",")
            self._skip(_BLANK)

    def _array(self, path: Path) -> Iterator[tuple[Path, int]]:
        self._skip(_BLANK)
        while not self._take("]"):
            yield from self._value(path)
            self._skip(_BLANK)
            self._take(",")
            self._skip(_BLANK)

    def _key(self) -> Path:
        parts = [self._part()]
        while self._take("."):
            parts.append(self._part())
        return tuple(parts)

    def _part(self) -> str:
        match = _KEY.match(self.text, self.at)
        assert match is not None  # the text is valid
        self.at = match.end()
        word = match[1]
        return str(tomllib.loads(f"key = {word}")["key"]) if word[0] in "\"'" else word

    def _take(self, character: str) -> bool:
        taken = self.text.startswith(character, self.at)
        self.at += taken
        return taken

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        return True
