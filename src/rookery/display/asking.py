"""Requests for permission and decisions as lines; text from an agent is made safe."""

import re
from collections.abc import Iterator, Mapping

from rookery.display.console.cells import width
from rookery.display.console.paint import Paint
from rookery.display.numbers import time_limit
from rookery.model.events import PermissionRequested, ToolKind
from rookery.model.questions import About, Ask, Decision, Question
from rookery.model.records import Record
from rookery.model.safe import safe_line
from rookery.model.text import cut, relative
from rookery.store.decisions import Decided

_MOST_LINES = 12
_WIDEST = 10_000  # if the width of the screen is not known
_PLAIN = re.compile(r"\x1b\[[0-9;]*m")  # our own colours have no width
_LONGEST_WHAT = 60
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
_NUMBERS = re.compile(r"[0-9]{1,3}(?:[ ,]+[0-9]{1,3})*")


class Words:
    """The lines that ask the user one thing.

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
        name = f"[{safe_line(agent)}]"
        self._paint = paint or Paint()
        self._prefix = f"{self._paint('prefix', name)} "
        self._indent = " " * (len(name) + 1)
        self._ask = ask
        self._cwd = cwd
        self._home = home
        self._limit_s = limit_s

    @property
    def is_cut(self) -> bool:
        """Whether the usual lines leave something out."""
        return len(self._body()) > _MOST_LINES

    def lines(self, *, whole: bool = False) -> Iterator[str]:
        """The request, with all of its details or only as many as fit on a screen."""
        ask, body = self._ask, self._body()
        yield self._prefix + self._head()
        for line in body if whole else body[:_MOST_LINES]:
            yield self._indent + self._detail(safe_line(line))
        if not whole and self.is_cut:
            left = len(body) - _MOST_LINES
            yield f"{self._indent}… {left} more line{'' if left == 1 else 's'}"
        about = [f"in {safe_line(self._folder())}"] if ask.kind == "execute" else []
        about += [f"because: {safe_line(ask.purpose)}"] if ask.purpose else []
        about += [f"needs approval: {safe_line(ask.reason)}"] if ask.reason else []
        if about:
            yield self._indent + " · ".join(about)

    def keys(self, columns: int = _WIDEST) -> str:
        """The line that lists the keys, broken between two keys if it is too long."""
        lines, left = [""], columns - len(self._indent)
        for key in self._all_keys():
            room = width(_PLAIN.sub("", lines[-1] + key)) < left
            lines[-1:] = [lines[-1] + key] if room or not lines[-1] else [lines[-1], key.lstrip()]
        return "\n".join(self._indent + line for line in lines)

    def _all_keys(self) -> Iterator[str]:
        ask = self._ask
        keys = [self._key("y", "yes, continue" if ask.about == "plan" else "once")]
        if ask.always:
            exact = ask.always == f"{ask.name}({ask.title})"
            scope = "" if exact else f" ({safe_line(ask.always)})"
            keys.append(self._key("a", f"always in this run{scope}"))
        keys += [self._key("n", "no"), self._key("e", "no, and say why")]
        if self.is_cut:
            keys.append(self._key("v", "see all of it"))
        yield keys[0]
        yield from (f"  {key}" for key in keys[1:])
        yield self._until("no")

    def question(self, question: Question) -> Iterator[str]:
        """One of the questions, with its answers and how to choose."""
        first, *more = question.text.split("\n")
        yield f"{self._prefix}{self._paint('strong', f'asks: {safe_line(first)}')}"
        for line in more:
            yield self._indent + safe_line(line)
        for number, option in enumerate(question.options, 1):
            about = f": {safe_line(option.description)}" if option.description else ""
            yield self._indent + self._key(str(number), f"{safe_line(option.label)}{about}")
        yield self._indent + _how_to_answer(question) + self._until("no answer")

    def line(self, words: str) -> str:
        """A line below the question."""
        return self._indent + words

    def _key(self, key: str, meaning: str) -> str:
        return f"{self._paint('strong', f'[{key}]')} {meaning}"

    def _detail(self, line: str) -> str:
        """A line to decide by; those of a change in their colours."""
        role = _CHANGES.get(line[:1]) if self._ask.kind == "edit" else None
        return self._paint(role, line) if role else line

    def _until(self, then: str) -> str:
        return "" if self._limit_s is None else f"  ({time_limit(self._limit_s)}, then {then})"

    def _folder(self) -> str:
        if self._cwd == self._home:
            return "~"
        below = relative(self._cwd, self._home)
        return self._cwd if below == self._cwd else f"~/{below}"

    def _head(self) -> str:
        ask = self._ask
        if ask.about == "plan":
            has = "has a plan:" if ask.detail else "wants to continue with its plan"
            return self._paint("strong", has)
        title = relative(ask.title or "", self._cwd) if ask.kind in _FILES else ask.title or ""
        about = "" if not title else ":" if "\n" in title else f": {safe_line(title)}"
        wants = self._paint("strong", f"wants to {_VERBS.get(ask.kind, 'use')}")
        return f"{wants}  {self._paint('tool', safe_line(ask.name or 'a tool'))}{about}"

    def _body(self) -> list[str]:
        """The lines to decide by: a title of many lines, a change, a plan."""
        title = self._ask.title or ""
        return [*(title.split("\n") if "\n" in title else ()), *self._ask.detail]


def chosen(question: Question, text: str) -> str | None:
    """The answer that was typed, by number or as text; None if there is no such number.

    Nothing typed is the answer "".
    """
    text = text.strip()
    if not question.options or not _NUMBERS.fullmatch(text):
        return text
    numbers = [int(number) for number in re.findall("[0-9]+", text)]
    if len(numbers) > 1 and not question.several:
        return None
    if not all(1 <= number <= len(question.options) for number in numbers):
        return None
    return ", ".join(question.options[number - 1].label for number in dict.fromkeys(numbers))


def outcome(about: About, decision: Decision) -> str:
    """What was decided, in a few words."""
    if not decision.allow:
        by_whom = {"timeout": "no: not answered in time", "nobody": "no: nobody is there to ask"}
        why = f"no: {safe_line(decision.reason)}" if decision.reason else "no"
        return by_whom.get(decision.by, why)
    if decision.answers:
        return "; ".join(safe_line(answer) for answer in decision.answers.values())
    if decision.by == "rule":
        return "yes, as decided before"
    if about != "tool":
        return "yes"
    return "yes, always in this run" if decision.always else "yes, once"


def decided(record: Record, decisions: Mapping[str, Decided]) -> Iterator[str]:
    """Say what was decided on the request of a record, if it is one: a line without prefix."""
    if isinstance(record.event, PermissionRequested):
        yield from decided_on(record.event.id, decisions)


def decided_on(ask: str | None, decisions: Mapping[str, Decided]) -> Iterator[str]:
    """Say what was decided on a question, by its id: a line without prefix."""
    made = decisions.get(ask or "")
    if made is not None:
        words = f"{made.name or 'a tool'}: {made.title}" if made.title else made.name or "a tool"
        what = safe_line(cut(words, _LONGEST_WHAT))
        yield f"asked: {what} · {outcome(made.about, made.decision)}"


def _how_to_answer(question: Question) -> str:
    if not question.options:
        return "type your answer, or press Enter for none"
    numbers = "numbers, as in 1,2," if question.several else "a number,"
    return f"{numbers} or your own words, or nothing for no answer"
