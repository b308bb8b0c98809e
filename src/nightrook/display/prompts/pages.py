"""What an agent asks the user, as pages of a screen: what is decided stands next to the keys."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nightrook.display.console.cells import fit
from nightrook.display.console.paint import Paint
from nightrook.display.console.visible import visible
from nightrook.display.numbers import time_limit
from nightrook.display.prompts.rows import PromptRows
from nightrook.model.events import ToolKind
from nightrook.model.questions import Ask, Question
from nightrook.model.text import count, relative

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
    """What is on the screen at once."""

    lines: tuple[str, ...]
    keys: tuple[str, ...]
    """The lines below, which list the keys."""

    decides: bool = True
    """Whether it may be allowed or answered here: all of it has been on the screen."""


class _Sheet(NamedTuple):
    """A request on a screen, before it is divided into pages."""

    subject: list[str]
    """The rows of what is decided: a command, a change, a plan."""

    remarks: list[str]
    """The rows beside it, as many as fit."""

    hidden: list[str]
    """The rows, whole, of what the remarks or the keys show only in part."""

    left: int
    """How many rows the subject may take."""


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
        """What makes the rows of this prompt on a screen."""
        return PromptRows(self._agent, size.columns, self._paint)

    def pages(self, size: Size) -> list[Page]:
        """The request for permission; it can be allowed on the last page."""
        rows = self.rows(size)
        sheet = self._sheet(rows, size)
        if rows.room < _FEWEST_COLUMNS or sheet.left < min(len(sheet.subject), _FEWEST_ROWS):
            head = rows.head(*self._title())
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
                hidden += part if len(shown) < len(part) else []
            left = size.rows - used - len(remarks)
            if left >= min(len(subject), _MANY_ROWS):
                break
        if rows.head_cuts(*self._title()):
            hidden = [*rows.labelled("tool: ", self._ask.name or ""), *hidden]
        if self._shown_scope(rows) != self._scope():
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
            last = [*subject[:again], *rows.own(seen), *subject[end:]]
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
        """What the agent wants, in our words, and its name for the tool."""
        ask = self._ask
        if ask.about == "plan":
            return ("has a plan:" if ask.detail else "wants to continue with its plan"), ""
        return f"wants to {_VERBS.get(ask.kind, 'use')}", ask.name or "a tool"

    def _subject(self, rows: PromptRows) -> Iterator[str]:
        ask = self._ask
        title = ask.title or ""
        if title:  # a line break in a path is a part of it
            lines = [relative(title, self._cwd)] if ask.kind in _FILES else title.split("\n")
            yield from rows.barred(lines, {"": "strong"})
        changes = [part for line in ask.detail for part in line.split("\n")]
        yield from rows.barred(changes, _CHANGES if ask.kind == "edit" else {})
        if ask.about == "tool" and not title and not ask.detail:
            yield from rows.own(_UNKNOWN)

    def _remarks(self) -> Iterator[tuple[str, str, str]]:
        """What else decides, then the agent's words about it, each with a style and our label."""
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
        """What `always` allows, if that is more than this call."""
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
