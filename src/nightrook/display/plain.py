"""The plain display, for a log, a pipe or CI: one line for each event, and nothing else."""

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, Self, TextIO

from nightrook.display import event_lines
from nightrook.display.console import Paint
from nightrook.display.event_lines import Calls, EndedCall, Line, RunContext, ShownTexts
from nightrook.model.events import (
    Error,
    FileChanged,
    PermissionDenied,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from nightrook.model.records import Record
from nightrook.model.safe import safe_line

_SHORTEST_S = 0.1  # shorter times are left out


class PlainLines:
    """Turns the records of one stream into lines of text, each safe to print.

    A call is shown when it starts; what is known at its end follows.
    """

    def __init__(
        self,
        agent: str,
        *,
        context: RunContext,
        verbose: bool = False,
        text: bool = True,
        paint: Paint | None = None,
        home: str | None = None,
    ) -> None:
        self.texts = ShownTexts(verbose=verbose)
        """The agent's texts so far."""
        self._paint = paint or Paint()
        self._agent = safe_line(agent)
        self._prefix = self._paint("prefix", f"[{self._agent}]") + " "
        self._rook = self._paint("prefix", "[rook]") + " "
        self._context = context
        self._verbose = verbose
        self._text = text
        self._home = home
        self._cwd = self._context.cwd
        self._has_head = False
        self._calls = Calls()
        self._latest: str | None = None  # the call that was shown last
        self._ways: Mapping[type, Callable[[Any, Record], Iterator[Line]]] = {
            SessionStarted: self._session_started,
            ToolStarted: self._tool_started,
            ToolFinished: self._tool_finished,
            FileChanged: self._file_changed,
            Text: self._said,
            PermissionDenied: self._permission_denied,
            Error: self._error,
            TurnFinished: self._turn_finished,
        }

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        event = record.event
        if self._calls.is_holding and not isinstance(event, FileChanged):
            yield from self.released()
        way = self._ways.get(event.__class__)
        if way is not None:
            for line in way(event, record):
                yield self._render(line)
        elif event.__class__ not in event_lines.DETAILS:
            return
        elif warning := event_lines.warning(record):
            yield self._rook + self._paint("error", f"WARNING: {warning}")
        else:
            for line in event_lines.details(record, verbose=self._verbose):
                yield self._render(line)

    def head(self, record: Record) -> str | None:
        """A line for stderr about the agent, once the agent has introduced itself."""
        event = record.event
        if self._has_head or not isinstance(event, SessionStarted):
            return None
        self._has_head = True
        cwd = event.cwd or self._cwd
        heading = self._context.heading(event, self._agent, cwd=cwd, home=self._home)
        return self._rook + safe_line(heading)

    def released(self) -> Iterator[str]:
        """Yield the lines of an edit that was held back until its lines are counted, if any."""
        if ended := self._calls.release():
            for line in self._ended(ended):
                yield self._render(line)

    def own(self, *lines: str) -> list[str]:
        """Lines of rook's own, such as a warning."""
        return [self._rook + safe_line(line) for line in lines]

    def _render(self, line: Line) -> str:
        head = self._paint(line.role, safe_line(line.head))
        aside = f" ({', '.join(line.aside)})" if line.aside else ""
        return self._prefix + head + safe_line(line.rest + aside) if head else self._prefix[:-1]

    def _session_started(self, event: SessionStarted, record: Record) -> Iterator[Line]:
        self._cwd = event.cwd or self._cwd
        return iter(())

    def _tool_started(self, event: ToolStarted, record: Record) -> Iterator[Line]:
        call = self._calls.start(event, record.at, self._cwd)
        self._latest = event.id
        yield call.line()

    def _tool_finished(self, event: ToolFinished, record: Record) -> Iterator[Line]:
        if ended := self._calls.finish(event, record.at):
            yield from self._ended(ended)

    def _ended(self, ended: EndedCall) -> Iterator[Line]:
        event, call = ended.finished, ended.call
        if event.status in event_lines.FAILED:
            took = ended.took(_SHORTEST_S) if self._verbose else ""
            yield event_lines.failed(event, *filter(None, (self._which(ended), took)))
        elif event.status == "cancelled":
            yield event_lines.cancelled(event, call)
        elif event.status == "orphaned" and call:
            yield event_lines.cut_off(call)
        elif event.status == "ok":
            yield from self._succeeded(ended)

    def _succeeded(self, ended: EndedCall) -> Iterator[Line]:
        """The output of a call and the lines that it changed; without --verbose only these."""
        counted = ended.counted()
        took = ended.took(_SHORTEST_S) if self._verbose else ""
        line = event_lines.output(ended.finished) if self._verbose else None
        if line is None and counted:
            line, counted = event_lines.changed(counted), ""
        elif line is None and took:
            line, took = event_lines.only_took(took), ""
        if line is not None:
            yield line._replace(aside=tuple(filter(None, (self._which(ended), counted, took))))

    def _which(self, ended: EndedCall) -> str:
        """The call that ended, if another was shown since."""
        is_latest = ended.call is None or ended.finished.id == self._latest
        return "" if is_latest or ended.call is None else ended.call.words

    def _file_changed(self, event: FileChanged, record: Record) -> Iterator[Line]:
        self._calls.count(event)
        return iter(())

    def _said(self, event: Text, record: Record) -> Iterator[Line]:
        if self._text and event.text.strip():
            yield from self.texts.lines(event.text, self._context.redact)

    def _permission_denied(self, event: PermissionDenied, record: Record) -> Iterator[Line]:
        by_person = self._context.is_by_person(event)
        yield event_lines.denied(event, self._calls.find(event.tool_id), by_person=by_person)

    def _error(self, event: Error, record: Record) -> Iterator[Line]:
        yield event_lines.error(event)

    def _turn_finished(self, event: TurnFinished, record: Record) -> Iterator[Line]:
        self._calls.end_turn()
        yield event_lines.ending(event, self._context.cost)


class PlainDisplay:
    """Shows the records of one stream as lines of text, each safe to print.

    Without a context, a cost that the agent does not report is unknown. Threads may share a
    display. `options` are those of `PlainLines`.
    """

    def __init__(
        self, out: TextIO, agent: str, *, context: RunContext | None = None, **options: Any
    ) -> None:
        self._out = out
        self._lines = PlainLines(agent, context=context or RunContext(), **options)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def texts(self) -> ShownTexts:
        """The agent's texts so far."""
        return self._lines.texts

    def show(self, record: Record) -> None:
        """Write the lines that show a record, whole lines even if other threads write too."""
        self.put(list(self.lines(record)))

    def say(self, *lines: str) -> None:
        """Write lines of rook's own, such as a warning."""
        self.put(self._lines.own(*lines))

    def put(self, lines: list[str]) -> None:
        """Write lines that this display returned."""
        if lines:
            with self._lock:
                self._out.write("".join(f"{line}\n" for line in lines))

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        return self._lines.lines(record)

    def head(self, record: Record) -> str | None:
        """A line for stderr about the agent, once the agent has introduced itself."""
        return self._lines.head(record)

    def tick(self, now: float) -> None:
        """Do nothing: a log has no line that changes."""

    def pause(self) -> None:
        """Do nothing: there is no status line to hide."""

    def resume(self) -> None:
        """Do nothing: there is no status line to show again."""

    def close(self) -> None:
        """Write the text that was held back, and flush the output."""
        self.put(list(self._lines.released()))
        self._out.flush()
