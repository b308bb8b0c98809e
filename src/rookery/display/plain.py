"""The plain form: one line per thing that happened, readable in a log, a pipe or CI."""

import os.path
from collections.abc import Iterator, Mapping

from rookery.core.events import (
    Error,
    Event,
    PermissionDenied,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unreadable,
)
from rookery.core.records import Record
from rookery.core.safe import safe_line
from rookery.core.text import cut, one_line

_LONGEST: Mapping[str, int] = {"execute": 60, "subagent": 40, "search": 40, "fetch": 50}
_PATHS = frozenset({"read", "edit", "list", "delete", "move"})
_LONGEST_TEXT = 80
_LONGEST_OUTPUT = 100


class PlainDisplay:
    """Turns the records of one stream into lines of text, each safe to print."""

    def __init__(self, agent: str, *, verbose: bool = False, text: bool = True) -> None:
        self._prefix = f"[{safe_line(agent)}] "
        self._verbose = verbose
        self._text = text
        self._cwd: str | None = None

    def lines(self, record: Record) -> Iterator[str]:
        """Give the lines, without newline, that tell of a record; often there are none."""
        for words in self._words(record.event, record):
            yield self._prefix + safe_line(words)

    def _words(self, event: Event, record: Record) -> Iterator[str]:
        match event:
            case SessionStarted():
                self._cwd = event.cwd
            case ToolStarted():
                yield event.name + self._about(event)
            case ToolFinished():
                yield from self._finished(event)
            case Text() if self._text:
                yield f'"{_quoted(event.text)}"'
            case PermissionDenied():
                fix = f" (allow it: '{event.fix}')" if event.fix else ""
                yield f"DENIED: {event.name or 'a tool'}{fix}"
            case Error():
                yield f"ERROR: {event.message or event.kind}"
            case Unreadable(reason="oversized"):
                yield f"WARNING: skipped a line of {record.length / 1e6:.1f} MB"
            case TurnFinished():
                yield _ending(event)
            case _:
                return

    def _about(self, event: ToolStarted) -> str:
        if not event.title:
            return ""
        if event.kind in _PATHS:
            return f": {self._relative(event.title)}"
        return f": {cut(event.title, _LONGEST.get(event.kind, 60))}"

    def _relative(self, path: str) -> str:
        if self._cwd and path.startswith(self._cwd.rstrip("/") + "/"):
            return os.path.relpath(path, self._cwd)
        return path

    def _finished(self, event: ToolFinished) -> Iterator[str]:
        if event.status in ("error", "timed_out", "cancelled"):
            yield f"ERROR: {_failure(event)}"
        elif self._verbose and event.status == "ok" and event.output:
            yield f"  -> {one_line(event.output, _LONGEST_OUTPUT)}"


def _failure(event: ToolFinished) -> str:
    message = event.error or event.status.replace("_", " ")
    if event.exit_code is not None:
        rest = message.partition("\n")[2].strip()
        message = f"exit {event.exit_code}" + (f": {rest}" if rest else "")
    return one_line(message, _LONGEST_OUTPUT)


def _quoted(text: str) -> str:
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return cut(first, _LONGEST_TEXT).replace("\\", "\\\\").replace('"', '\\"')


def _ending(event: TurnFinished) -> str:
    if event.ok:
        cost = "$?" if event.cost_usd is None else f"${event.cost_usd:.4f}"
        return f"Complete (cost: {cost})"
    why = next(iter(event.errors or ()), None) or event.reason or "the agent did not say why"
    return f"FAILED: {why.strip().partition(chr(10))[0]}"
