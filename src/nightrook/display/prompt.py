"""The agent's questions to the user, as pages of a screen: the subject stands next to the keys.

`visible` shows blanks and hidden characters, since a user decides by every character of a text.
`PromptRows` puts the agent's text behind our words or a bar, so that it cannot forge either.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from unicodedata import category

from nightrook.display.cells import fit, rows, width
from nightrook.display.console import Paint
from nightrook.display.numbers import time_limit
from nightrook.model.events import ToolKind
from nightrook.model.questions import Ask, Question
from nightrook.model.safe import safe_line
from nightrook.model.text import count, relative

# guards: blanks-counted
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
# guards: controls-visible
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
    return indent + "".join(_characters(rest))


def _characters(text: str) -> Iterator[str]:
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
    """True for a character that a reader would not see, or not its effect on its neighbours."""
    if character in _JOINERS:
        return number > 1 or not (_joins(before) and _joins(after))
    if character in _SELECTORS:
        return number > 1 or category(before or " ") not in ("So", "Sm", "Po", "Nd")
    if marks:
        ignored = any(ord(character) in part for part in _IGNORED)
        return ignored or marks > _MOST_MARKS or category(before or " ")[0] != "L"
    # guards: blank-letters-visible, unprinted-visible
    return not character.isprintable() or character in _BLANK_LETTERS


def _joins(neighbour: str) -> bool:
    """True if a joiner next to this character belongs to a script or an emoji."""
    return neighbour > "\x7f" and neighbour.isprintable() and neighbour not in _BLANK_LETTERS


def _counted(character: str, number: int) -> str:
    """A run of one character that would not be seen."""
    if character == " ":
        return f"␠×{number}" if number > _MOST_BLANKS else " " * number
    code = ord(character)
    symbol = "␡" if code == 0x7F else chr(0x2400 + code) if code < 0x20 else f"‹U+{code:04X}›"
    return symbol if number == 1 else f"{symbol}×{number}"


_WIDEST_NAME = 40
_WIDEST_MARGIN = 12
_MOST_BLANK_LINES = 3  # in a row; more are counted
_NARROWEST = 8  # narrower terminals wrap


class PromptRows:
    """Makes the rows of a prompt on a screen of so many columns.

    Only our own text starts at the left margin or at the indentation. No row reaches the last
    column, since some terminals wrap there.
    """

    def __init__(self, agent: str, columns: int, paint: Paint) -> None:
        self._name = f"[{fit(safe_line(agent), _WIDEST_NAME)}]"
        self._paint = paint
        self._head_room = columns - width(self._name) - 2
        self._indent = " " * min(width(self._name) + 1, _WIDEST_MARGIN)
        self.room = max(columns - len(self._indent) - 1, _NARROWEST)
        """The number of columns after the indentation."""

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
        """True if the first row of a page has no room for the whole name of a tool."""
        return width(f"{words}  {visible(tool)} · 100/100") > self._head_room

    def own(self, words: str) -> list[str]:
        """Return rook's own words, set apart from the agent's."""
        return [self._indent + self._paint("aside", row) for row in rows(words, self.room)]

    def line(self, words: str) -> str:
        """Words below the prompt, cut to one row."""
        return self._indent + fit(words, self.room)

    def labelled(self, label: str, text: str) -> list[str]:
        """Text of the agent after a label of ours."""
        first, *more = rows(f"{label}{visible(text)}", self.room - 2)
        return [self._indent + first, *(f"{self._indent}  {row}" for row in more)]

    def cut(self, labelled: list[str], most: int) -> list[str]:
        """Return at most so many of these rows; the last one shows that there are more."""
        shown = labelled[:most]  # guards: label-bounded
        if shown and len(shown) < len(labelled):
            shown[-1] = fit(f"{shown[-1]} …", len(self._indent) + self.room)
        return shown

    def barred(self, lines: Iterable[str], styles: Mapping[str, str]) -> Iterator[str]:
        """Lines of the agent behind a bar, which is dotted where a line had to be broken.

        `styles` has the style of a line by its first character, or for all others by "".
        """
        for blank, group in groupby(lines, _blank):
            run = list(group)
            if blank is not None and len(run) > _MOST_BLANK_LINES:  # guards: blank-lines-counted
                yield from self.own(f"… {blank}{len(run)} blank lines")
                continue
            for line in run:
                style = styles.get(line[:1]) or styles.get("")
                # guards: lines-broken
                for at, row in enumerate(rows(visible(line), self.room - 2)):
                    bar = self._paint("prefix", "┆" if at else "│")
                    yield f"{self._indent}{bar} {self._paint(style, row) if style else row}"

    def key(self, key: str, meaning: str) -> list[str]:
        """A key and its meaning, on separate rows."""
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


_VERBS: Mapping[ToolKind, str] = {
    "execute": "run",
    "edit": "edit",
    "delete": "edit",
    "move": "edit",
    "read": "read",
    "list": "read",
    "fetch": "fetch",
}
_CHANGES = {"+": "added", "-": "removed"}
_FILES = frozenset({"edit", "delete", "move", "read", "list"})
_FREE = 2  # rows of the screen: one for the cursor, one for what was there before
_ROWS_OF_A_PART = (3, 2, 1, 0)  # for each remark, fewer if the subject needs the room
_MANY_ROWS, _FEWEST_ROWS = 5, 3  # of the subject
_FEWEST_COLUMNS = 28
_SCOPE_ROWS = 2
_NARROW = "this terminal is too small to show it: make it larger, or say no"
_UNKNOWN = "(the agent does not say what exactly)"


class Size(NamedTuple):
    """The size of a screen."""

    columns: int
    rows: int


class Page(NamedTuple):
    """The rows that are on the screen at once."""

    lines: tuple[str, ...]
    keys: tuple[str, ...]
    """The lines below, which list the keys."""

    decides: bool = True
    """True once all of it has been on the screen: it may be allowed or answered here."""


class _Sheet(NamedTuple):
    """A request on a screen, before it is divided into pages."""

    subject: list[str]
    """Rows of the subject of the decision: a command, a change, a plan."""

    remarks: list[str]
    """The rows next to it, as many as fit."""

    hidden: list[str]
    """Complete rows of the remarks and keys that are shown only in part."""

    left: int
    """The number of rows for the subject."""


class Prompt:
    """Asks the user one thing, on as many pages as the screen needs.

    `cwd` and `home` are the folders that the agent works in and that `~` stands for; `limit_s` is
    how long the answer may take, None without a limit.
    """

    def __init__(
        self,
        agent: str,
        ask: Ask,
        *,
        cwd: str,
        home: str,
        limit_s: float | None,
        paint: Paint | None = None,
    ) -> None:
        self._agent = agent
        self._ask = ask
        self._cwd = cwd
        self._home = home
        self._limit_s = limit_s
        self._paint = paint or Paint()

    def rows(self, size: Size) -> PromptRows:
        """The function that makes the rows of this prompt on a screen."""
        return PromptRows(self._agent, size.columns, self._paint)

    def pages(self, size: Size) -> list[Page]:
        """The request for permission; it can be allowed on the last page."""
        rows = self.rows(size)
        sheet = self._sheet(rows, size)
        if rows.room < _FEWEST_COLUMNS or sheet.left < min(len(sheet.subject), _FEWEST_ROWS):
            head = rows.head(*self._title())
            # guards: small-screen
            return [Page((head, *rows.own(_NARROW)), self._keys(rows), decides=False)]
        if len(sheet.subject) <= sheet.left and not sheet.hidden:
            lines = (rows.head(*self._title()), *sheet.remarks, *sheet.subject)
            return [Page(lines, self._keys(rows, allow=True))]
        return list(self._pages(rows, list(self._divided(rows, sheet, size))))

    def question_pages(self, question: Question, size: Size) -> list[Page]:
        """A question with its suggested answers; it is answered on the last page."""
        rows = self.rows(size)
        body = [*rows.barred(question.text.split("\n"), {})]
        for number, option in enumerate(question.options, 1):
            about = f": {visible(option.description)}" if option.description else ""
            body += rows.key(str(number), f"{visible(option.label)}{about}")
        how = rows.keys([("", _how_to_answer(question)), *self._until("no answer")])
        more = rows.keys([("v", "see the rest"), ("n", "no answer"), *self._until("no answer")])
        height = max(size.rows - _FREE - 2 - max(len(how), len(more)), 1)
        parts = _slices(body, height)
        return [
            Page((rows.head("asks:"), *part), how if last else more, decides=last)
            for part, last in zip(parts, [*[False] * (len(parts) - 1), True], strict=True)
        ]

    def _sheet(self, rows: PromptRows, size: Size) -> _Sheet:
        subject = list(self._subject(rows))
        parts = [(style, rows.labelled(label, text)) for style, label, text in self._remarks()]
        used = _FREE + 1 + max(len(self._keys(rows, allow=a, more=True)) for a in (True, False))
        for most in _ROWS_OF_A_PART:
            remarks: list[str] = []
            hidden: list[str] = []
            for style, part in parts:
                shown = rows.cut(part, min(most, max(size.rows // 3 - len(remarks), 0)))
                remarks += [self._paint(style, row) for row in shown]
                hidden += part if len(shown) < len(part) else []  # guards: cut-shown-whole
            left = size.rows - used - len(remarks)
            if left >= min(len(subject), _MANY_ROWS):
                break
        if rows.head_cuts(*self._title()):
            hidden = [*rows.labelled("tool: ", self._ask.name or ""), *hidden]
        if self._shown_scope(rows) != self._scope():  # guards: scope-shown-whole
            hidden += rows.labelled("[a] allows in this run: ", self._scope())
        return _Sheet(subject, remarks, hidden, left)

    def _divided(self, rows: PromptRows, sheet: _Sheet, size: Size) -> Iterator[Sequence[str]]:
        """The pages, without heads and keys: the last has the beginning and the end of it."""
        subject, left = sheet.subject, sheet.left
        first = last = subject
        between: Sequence[str] = ()
        if len(subject) > left:
            again = 1 if left < 2 * _MANY_ROWS else _FEWEST_ROWS
            end = len(subject) - (left - 1 - again)
            more = f"… {count(len(subject) - left + 1, 'more line')}"
            seen = f"… {count(end - again, 'line')}, shown before"
            first = [*subject[: left - 1], *rows.own(more)]
            last = [*subject[:again], *rows.own(seen), *subject[end:]]  # guards: long-command-start
            between = subject[left - 1 : end]
        yield [*sheet.remarks, *first]
        keys = len(self._keys(rows, allow=False, more=True))
        yield from _slices([*sheet.hidden, *between], size.rows - _FREE - 1 - keys)
        yield [*sheet.remarks, *last]

    def _pages(self, rows: PromptRows, divided: Sequence[Sequence[str]]) -> Iterator[Page]:
        for number, lines in enumerate(divided, 1):
            head = rows.head(*self._title(), f"{number}/{len(divided)}")
            decides = number == len(divided)
            yield Page((head, *lines), self._keys(rows, allow=decides, more=True), decides)

    def _title(self) -> tuple[str, str]:
        """The request in our words, and the agent's name for the tool."""
        ask = self._ask
        if ask.about == "plan":
            return ("has a plan:" if ask.detail else "wants to continue with its plan"), ""
        return f"wants to {_VERBS.get(ask.kind, 'use')}", ask.name or "a tool"

    def _subject(self, rows: PromptRows) -> Iterator[str]:
        ask = self._ask
        title = ask.title or ""
        if title:  # a line break in a path is a part of it
            # guards: path-line-break
            lines = [relative(title, self._cwd)] if ask.kind in _FILES else title.split("\n")
            yield from rows.barred(lines, {"": "strong"})
        changes = [part for line in ask.detail for part in line.split("\n")]
        yield from rows.barred(changes, _CHANGES if ask.kind == "edit" else {})
        if ask.about == "tool" and not title and not ask.detail:
            yield from rows.own(_UNKNOWN)

    def _remarks(self) -> Iterator[tuple[str, str, str]]:
        """Other decisive inputs, then the agent's words about them, with a style and our label."""
        ask = self._ask
        if ask.kind == "execute":
            yield "text", "in ", self._folder(ask.cwd or self._cwd)
        for note in ask.notes:
            yield "note", "", note
        if ask.purpose:
            yield "aside", "because: ", ask.purpose
        if ask.reason:
            yield "aside", "needs approval: ", ask.reason

    def _keys(
        self, rows: PromptRows, *, allow: bool = False, more: bool = False
    ) -> tuple[str, ...]:
        keys = []
        if allow:
            keys.append(("y", "yes, continue" if self._ask.about == "plan" else "once"))
        if allow and self._ask.always:
            scope = self._shown_scope(rows)
            keys.append(("a", f"always in this run{f': {scope}' if scope else ''}"))
        if more and not allow:
            keys.append(("v", "see the rest, then decide"))
        keys += [("n", "no"), ("e", "no, and say why")]
        if more and allow:
            keys.append(("v", "see it again"))
        return rows.keys([*keys, *self._until("no")])

    def _scope(self) -> str:
        """The rule that `always` allows, if that is more than this call."""
        ask = self._ask
        is_exact = ask.always in (None, f"{ask.name}({ask.title})")
        return visible(ask.scope or ("" if is_exact else ask.always or ""))

    def _shown_scope(self, rows: PromptRows) -> str:
        return fit(self._scope(), _SCOPE_ROWS * rows.room - len("[a] always in this run: "))

    def _until(self, then: str) -> list[tuple[str, str]]:
        limit = self._limit_s
        return [] if limit is None else [("", f"({time_limit(limit)}, then {then})")]

    def _folder(self, folder: str) -> str:
        if folder == self._home:
            return "~"
        below = relative(folder, self._home)
        return folder if below == folder else f"~/{below}"


def _slices(rows: Sequence[str], height: int) -> list[Sequence[str]]:
    return [rows[at : at + height] for at in range(0, len(rows), height)]


def _how_to_answer(question: Question) -> str:
    if not question.options:
        return "type your answer, or press Enter for none"
    numbers = "numbers, as in 1,2," if question.several else "a number,"
    return f"{numbers} or your own words, or nothing for no answer"
