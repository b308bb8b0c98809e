"""The rows of a prompt: text of the agent behind our words or a bar, and the keys."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from nightrook.display.console.cells import fit, rows, width
from nightrook.display.console.paint import Paint
from nightrook.display.console.visible import visible
from nightrook.model.safe import safe_line

_WIDEST_NAME = 40
_WIDEST_INDENT = 12
_MOST_BLANK_LINES = 3  # in a row; more are counted
_FEWEST_COLUMNS = 8  # narrower terminals wrap


class PromptRows:
    """Makes the rows of a prompt on a screen of so many columns.

    Only our own text starts at the left margin or at the indentation. No row reaches the last
    column, since some terminals wrap there.
    """

    def __init__(self, agent: str, columns: int, paint: Paint) -> None:
        self._name = f"[{fit(safe_line(agent), _WIDEST_NAME)}]"
        self._paint = paint
        self._head_room = columns - width(self._name) - 2
        self._indent = " " * min(width(self._name) + 1, _WIDEST_INDENT)
        self.room = max(columns - len(self._indent) - 1, _FEWEST_COLUMNS)
        """How many columns there are beside the indentation."""

    def head(self, words: str, tool: str = "", page: str = "") -> str:
        """The first row: our words, the agent's name for a tool, and the number of the page."""
        paint = self._paint
        named = f"{words}  {visible(tool)}" if tool else words
        suffix = f" · page {page}" if page else ""
        if width(named) + width(suffix) > self._head_room:
            suffix = suffix.replace("page ", "")
        named = fit(named, max(self._head_room - width(suffix), 0))
        tool = paint("tool", named.removeprefix(words))
        prefix, strong = paint("prefix", self._name), paint("strong", words)
        return f"{prefix} {strong}{tool}{paint('aside', suffix)}"

    def head_cuts(self, words: str, tool: str) -> bool:
        """Whether the first row of a page has no room for all of the name of a tool."""
        return width(f"{words}  {visible(tool)} · 100/100") > self._head_room

    def own(self, words: str) -> list[str]:
        """Our own words beside the agent's."""
        return [self._indent + self._paint("aside", row) for row in rows(words, self.room)]

    def line(self, words: str) -> str:
        """Words below the prompt, cut to one row."""
        return self._indent + fit(words, self.room)

    def labelled(self, label: str, text: str) -> list[str]:
        """Text of the agent after a label of ours."""
        first, *more = rows(f"{label}{visible(text)}", self.room - 2)
        return [self._indent + first, *(f"{self._indent}  {row}" for row in more)]

    def cut(self, labelled: list[str], most: int) -> list[str]:
        """So many of these rows; the last one shows that there are more."""
        shown = labelled[:most]
        if shown and len(shown) < len(labelled):
            shown[-1] = fit(f"{shown[-1]} …", len(self._indent) + self.room)
        return shown

    def barred(self, lines: Iterable[str], styles: Mapping[str, str]) -> Iterator[str]:
        """Lines of the agent behind a bar, which is dotted where a line had to be broken.

        `styles` has the style of a line by its first character, or for all others by "".
        """
        for blank, group in groupby(lines, _blank):
            run = list(group)
            if blank is not None and len(run) > _MOST_BLANK_LINES:
                yield from self.own(f"… {blank}{len(run)} blank lines")
                continue
            for line in run:
                style = styles.get(line[:1]) or styles.get("")
                for at, row in enumerate(rows(visible(line), self.room - 2)):
                    bar = self._paint("prefix", "┆" if at else "│")
                    yield f"{self._indent}{bar} {self._paint(style, row) if style else row}"

    def key(self, key: str, meaning: str) -> list[str]:
        """A key and its meaning, on rows of their own."""
        return [self._indent + row for row, _ in self._key(key, meaning)]

    def keys(self, keys: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Keys with their meanings, as many on a row as fit; "" stands for no key."""
        lines: list[tuple[str, int]] = []  # with their widths
        for key, meaning in keys:
            first, *more = self._key(key, meaning)
            if lines and not more and lines[-1][1] + 2 + first[1] <= self.room:
                last = lines.pop()
                first = f"{last[0]}  {first[0]}", last[1] + 2 + first[1]
            lines += [first, *more]
        return tuple(self._indent + line for line, _ in lines)

    def _key(self, key: str, meaning: str) -> list[tuple[str, int]]:
        """The rows of a key, each with its width."""
        mark = f"[{key}] " if key else ""
        first, *more = rows(meaning, self.room - len(mark))
        painted = self._paint("strong", mark.strip()) + (" " if mark else "") + first
        indent = " " * len(mark)
        whole = (painted, len(mark) + width(first)) if not more else (painted, self.room)
        return [whole, *((indent + row, self.room) for row in more)]


def _blank(line: str) -> str | None:
    """The mark of a blank line, `+` or `-` if it is a changed one; None if it is not blank."""
    mark = line[:1] if line[:1] in ("+", "-") else ""
    return None if line[len(mark) :].strip(" \t") else mark
