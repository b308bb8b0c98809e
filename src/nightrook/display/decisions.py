"""The answers to an agent's questions, and the lines that show them afterwards."""

import re
from collections.abc import Iterator, Mapping

from nightrook.model.events import PermissionRequested
from nightrook.model.questions import About, ClosedQuestion, Decision, Question
from nightrook.model.records import Record
from nightrook.model.safe import safe_line
from nightrook.model.text import cut
from nightrook.store.decisions import Decided

_LONGEST_WHAT = 60
_PLACES = {"terminal": "at another terminal", "web": "in rook web"}
_NUMBERS = re.compile(r"[0-9]{1,3}(?:[ ,]+[0-9]{1,3})*")


def chosen(question: Question, text: str) -> str | None:
    """Return the answer that was typed, by number or as text; None if there is no such number.

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
    """The decision in a few words."""
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


def closed_elsewhere(about: About, closed: ClosedQuestion | None) -> str:
    """The decision of another process, and where it was made; or that the agent no longer asks."""
    if closed is None or closed.decision is None:
        return "no longer asked"
    words, through = outcome(about, closed.decision), closed.decision.through
    if through is None:
        return words
    return f"{words} (answered {_PLACES.get(through) or f'through {safe_line(through)}'})"


def decided(record: Record, decisions: Mapping[str, Decided]) -> Iterator[str]:
    """Return the decision on a record's request, if it is one, as a line without prefix."""
    if isinstance(record.event, PermissionRequested):
        yield from decided_on(record.event.id, decisions)


def decided_on(ask: str | None, decisions: Mapping[str, Decided]) -> Iterator[str]:
    """Return the decision on a question, by its id, as a line without prefix."""
    made = decisions.get(ask or "")
    if made is not None:
        words = f"{made.name or 'a tool'}: {made.title}" if made.title else made.name or "a tool"
        what = safe_line(cut(words, _LONGEST_WHAT))
        through = made.decision.through
        where = f" ({safe_line(through)})" if through not in (None, "terminal") else ""
        yield f"asked: {what} · {outcome(made.about, made.decision)}{where}"
