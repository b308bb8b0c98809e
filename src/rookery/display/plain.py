"""The plain display: one line per event, for a log, a pipe or CI."""

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, Self, TextIO

from rookery.display import words
from rookery.display.console.paint import Paint
from rookery.display.context import RunContext
from rookery.display.words import Call, Line
from rookery.model.events import (
    Error,
    PermissionDenied,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from rookery.model.records import Record
from rookery.model.safe import safe_line


class PlainDisplay:
    """Shows the records of one stream as lines of text, each safe to print.

    Without a context, a cost that the agent does not report is unknown. Threads may share a
    display.
    """

    def __init__(
        self,
        out: TextIO,
        agent: str,
        *,
        context: RunContext | None = None,
        verbose: bool = False,
        text: bool = True,
        paint: Paint | None = None,
    ) -> None:
        self._out = out
        self._paint = paint or Paint()
        self._prefix = self._paint("prefix", f"[{safe_line(agent)}]") + " "
        self._rook = self._paint("prefix", "[rook]") + " "
        self._context = context or RunContext()
        self._verbose = verbose
        self._text = text
        self._cwd = self._context.cwd
        self._open: dict[str, Call] = {}
        self._failed: dict[str, Call] = {}  # their turn's result may say that they were denied
        self._latest: str | None = None  # the call that was shown last
        self._lock = Lock()
        self._ways: Mapping[type, Callable[[Any, Record], Iterator[Line]]] = {
            SessionStarted: self._session_started,
            ToolStarted: self._tool_started,
            ToolFinished: self._tool_finished,
            Text: self._said,
            PermissionDenied: self._permission_denied,
            Error: self._error,
            TurnFinished: self._turn_finished,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def show(self, record: Record) -> None:
        """Write the lines that show a record, whole lines even if other threads write too."""
        if lines := list(self.lines(record)):
            self.put(lines)

    def say(self, *lines: str) -> None:
        """Write lines of rook's own, such as a warning."""
        self.put([self._rook + safe_line(line) for line in lines])

    def put(self, lines: list[str]) -> None:
        """Write lines that this display returned."""
        if lines:
            with self._lock:
                self._out.write("".join(f"{line}\n" for line in lines))

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        way = self._ways.get(record.event.__class__)
        if way is not None:
            for line in way(record.event, record):
                yield self._render(line)
        elif record.event.__class__ not in words.DETAILS:
            return
        elif warning := words.warning(record):
            yield self._rook + self._paint("error", f"WARNING: {warning}")
        elif self._verbose:
            for line in words.details(record):
                yield self._render(line)

    def tick(self, now: float) -> None:
        """Nothing: a log has no line that changes."""

    def pause(self) -> None:
        """Nothing: there is no status line in the way."""

    def resume(self) -> None:
        """Nothing: there was no status line in the way."""

    def close(self) -> None:
        """Flush the output."""
        self._out.flush()

    def _render(self, line: Line) -> str:
        head = self._paint(line.role, safe_line(line.head))
        aside = f" ({', '.join(line.aside)})" if line.aside else ""
        return self._prefix + head + safe_line(line.rest + aside)

    def _session_started(self, event: SessionStarted, record: Record) -> Iterator[Line]:
        self._cwd = event.cwd or self._cwd
        return iter(())

    def _tool_started(self, event: ToolStarted, record: Record) -> Iterator[Line]:
        call = self._open[event.id] = words.call(event, record.at, self._cwd)
        self._latest = event.id
        yield call.line()

    def _tool_finished(self, event: ToolFinished, record: Record) -> Iterator[Line]:
        call = self._open.pop(event.id, None)
        if event.status in words.FAILED:
            if call:
                self._failed[event.id] = call
            yield words.failed(event, *self._about(event.id, call, record.at))
        elif event.status == "cancelled":
            yield words.cancelled(event, call)
        elif self._verbose and event.status == "ok":
            line = words.output(event, *self._about(event.id, call, record.at))
            if line is not None:
                yield line

    def _about(self, id: str, call: Call | None, at: float | None) -> Iterator[str]:
        """Which call ended, if another was shown since, and how long it took."""
        if call is None:
            return
        if id != self._latest:
            yield call.words
        if self._verbose and (took := words.took(call, at)):
            yield took

    def _said(self, event: Text, record: Record) -> Iterator[Line]:
        if self._text and event.text.strip():
            yield words.text(event)

    def _permission_denied(self, event: PermissionDenied, record: Record) -> Iterator[Line]:
        id = event.tool_id or ""
        yield words.denied(event, self._open.get(id) or self._failed.get(id))

    def _error(self, event: Error, record: Record) -> Iterator[Line]:
        yield words.error(event)

    def _turn_finished(self, event: TurnFinished, record: Record) -> Iterator[Line]:
        self._failed.clear()
        yield words.ending(event, self._context.cost)
