"""A finished run as a page to read: what was asked, every step with its difference, the answer."""

import difflib
import json
import time
from collections.abc import Callable, Iterator

import msgspec

from rookery.adapter.agent import Replacement, no_replacements
from rookery.display.console.markdown import markdown
from rookery.display.console.paint import Paint
from rookery.display.terminal import TerminalDisplay
from rookery.model.events import FileChanged, Text, Thinking, ToolFinished, ToolStarted
from rookery.model.records import Record
from rookery.model.safe import safe

_FOLDED_LINES = 8  # of a difference; `full` shows all
_INDENT = "    "
_SIGNS = {"+": "added", "-": "removed", "@": "hunk"}


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """What stands above a page."""

    run: str
    prompt: str | None = None
    started_at: float | None = None
    command: str | None = None


class Page:
    """Turns the records of a run into the lines of a page, each safe to print."""

    def __init__(
        self,
        display: TerminalDisplay,
        *,
        paint: Paint,
        width: int,
        full: bool = False,
        replacements: Callable[[ToolStarted], tuple[Replacement, ...]] = no_replacements,
    ) -> None:
        self._display = display
        self._paint = paint
        self._width = width
        self._full = full
        self._replacements = replacements
        self._started: dict[str, ToolStarted] = {}
        self._ended: ToolFinished | None = None  # its call's line comes when its lines are counted

    def head(self, heading: Heading) -> Iterator[str]:
        """Give what was asked, and when."""
        moment = heading.started_at
        when = "" if moment is None else time.strftime("%a %d %b %Y %H:%M", time.localtime(moment))
        yield self._paint("strong", f"run {heading.run}") + (f" · {when}" if when else "")
        yield from self._block(heading.prompt or heading.command or "")
        yield self._rule()

    def lines(self, record: Record) -> Iterator[str]:
        """Give the lines of a record; inputs, outputs and long texts only in full."""
        event = record.event
        if self._ended is not None and not isinstance(event, FileChanged):
            yield from self.close()
        if isinstance(event, ToolStarted):
            self._started[event.id] = event
        if self._full and isinstance(event, (Text, Thinking)) and (event.text or "").strip():
            yield from self._said(event)
            return
        yield from self._display.lines(record)
        if isinstance(event, ToolFinished):
            self._ended = event
        if not self._display.is_holding:
            yield from self.close()

    def close(self) -> Iterator[str]:
        """Give what is left to tell of the call that ended last."""
        yield from self._display.released()
        if self._ended is not None:
            ended, self._ended = self._ended, None
            yield from self._body(self._started.pop(ended.id, None), ended)

    def answer(self, text: str | None) -> Iterator[str]:
        """Give the agent's last words, laid out."""
        if text and text.strip():
            yield self._rule()
            yield from markdown(text, width=self._width, colour=self._paint.colour).split("\n")
            yield self._rule()

    def _body(self, started: ToolStarted | None, ended: ToolFinished) -> Iterator[str]:
        """What a call was given and gave; folded, only what it changed."""
        edits = self._replacements(started) if started else ()
        if edits and (self._full or ended.status == "ok"):
            yield from self._difference(edits)
        elif self._full and started and started.input is not None:
            yield from self._block(_readable(started.input))
        if self._full:
            yield from self._output((ended.output if ended.status == "ok" else ended.error) or "")

    def _said(self, event: Text | Thinking) -> Iterator[str]:
        style = "text" if isinstance(event, Text) else "aside"
        for line in _lines(event.text or ""):
            yield self._paint(style, line)

    def _difference(self, edits: tuple[Replacement, ...]) -> Iterator[str]:
        lines = [line for edit in edits for line in _compared(edit)]
        most = len(lines) if self._full else _FOLDED_LINES
        for line in lines[:most]:
            yield _INDENT + self._paint(_SIGNS.get(line[:1], "text"), safe(line).expandtabs())
        if left := len(lines) - most if len(lines) > most else 0:
            yield _INDENT + self._paint("aside", f"… {left} more (--full)")

    def _output(self, said: str) -> Iterator[str]:
        if not said.strip():
            return
        lines = _lines(said)
        is_difference = any(line.startswith("@@ -") for line in lines)
        for line in lines:
            style = _SIGNS.get(line[:1], "aside") if is_difference else "aside"
            yield _INDENT + self._paint(style, line)

    def _block(self, text: str) -> Iterator[str]:
        for line in _lines(text):
            yield _INDENT + line

    def _rule(self) -> str:
        return self._paint("aside", "─" * self._width)


def _lines(text: str) -> list[str]:
    """The lines of an agent's text, each safe to print."""
    return safe(text).expandtabs().strip("\n").split("\n")


def _compared(edit: Replacement) -> Iterator[str]:
    """What differs, line by line, without the lines of numbers and names."""
    before, after = edit.before.split("\n"), edit.after.split("\n")
    if not edit.before:
        yield from (f"+{line}" for line in after)
        return
    for line in difflib.unified_diff(before, after, lineterm="", n=2):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def _readable(input: msgspec.Raw) -> str:
    """A tool's input as a person reads it: a name a line, texts as they are."""
    try:
        value = json.loads(bytes(input))
    except (ValueError, RecursionError):
        return bytes(input).decode("utf-8", "replace")
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "\n".join(f"{name}: {_value(item)}" for name, item in value.items())


def _value(item: object) -> str:
    if isinstance(item, str):
        return item if "\n" not in item else "\n" + item
    return json.dumps(item, ensure_ascii=False)
