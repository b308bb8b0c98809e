"""The lines of a run on a terminal: the plain words in colour, with what belongs beside them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rookery.display import numbers, words
from rookery.display.console.paint import Paint
from rookery.display.context import RunContext
from rookery.display.layout import Layout
from rookery.display.words import Call
from rookery.model.events import (
    ContextCompacted,
    Error,
    FileChanged,
    LimitReported,
    ModelChanged,
    PermissionDenied,
    Retrying,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from rookery.model.records import Record
from rookery.model.safe import safe_line
from rookery.model.text import from_home

_ALWAYS_SHOWN = (Retrying, ContextCompacted, ModelChanged)  # without --verbose, too
_SHOWN_BY_OTHERS = ("denied", "cancelled")  # these calls get a line of another kind


class TerminalLines:
    """Turns the records of one stream into lines.

    A call is shown when it has ended, with how long it took and what it changed. Only a subagent's
    call is shown at its start, since what the subagent does follows it.
    """

    def __init__(
        self,
        agent: str,
        *,
        columns: Callable[[], int],
        context: RunContext,
        verbose: bool = False,
        text: bool = True,
        paint: Paint | None = None,
        home: str | None = None,
    ) -> None:
        self._agent = safe_line(agent)
        self._context = context
        self._verbose = verbose
        self._text = text
        self._shortest = 0.1 if verbose else 1.0  # seconds; shorter times are left out
        self._paint = paint or Paint()
        self._layout = Layout(self._agent, columns, self._paint)
        self._layout.cwd = context.cwd
        self._rook = self._paint("prefix", "[rook]") + " "
        self._home = home
        self._has_head = False
        self._open: dict[str, Call] = {}
        self._failed: dict[str, Call] = {}  # their turn's result may say that they were denied
        self._changed: dict[str, FileChanged] = {}  # by call, until it ends
        self._held: tuple[str, Call, str] | None = None  # an edit whose lines are not counted yet
        self._ways: Mapping[type, Callable[[Any, Record], Iterator[str]]] = {
            SessionStarted: self._session_started,
            ToolStarted: self._tool_started,
            ToolFinished: self._tool_finished,
            FileChanged: self._file_changed,
            Text: self._said,
            PermissionDenied: self._permission_denied,
            Error: self._error,
            LimitReported: self._limit,
            TurnFinished: self._turn_finished,
        }

    @property
    def cwd(self) -> str | None:
        """The folder that paths are relative to."""
        return self._layout.cwd

    @property
    def is_holding(self) -> bool:
        """Whether an edit is held back until its lines are counted."""
        return self._held is not None

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        event = record.event
        if self._held is not None:
            yield from self._release(event)
        way = self._ways.get(event.__class__)
        if way is not None:
            yield from way(event, record)
        elif event.__class__ not in words.DETAILS:
            return
        elif warning := words.warning(record):
            yield self._rook + self._paint("error", f"WARNING: {warning}")
        elif self._verbose or isinstance(event, _ALWAYS_SHOWN):
            for line in words.details(record):
                yield from self._layout.render(line)

    def released(self) -> Iterator[str]:
        """Yield the line of an edit that was held back until its lines are counted, if any."""
        return self._release(None)

    def own(self, *lines: str) -> list[str]:
        """Yield lines of rook's own, such as a warning."""
        return [self._rook + safe_line(line) for line in lines]

    def _session_started(self, event: SessionStarted, record: Record) -> Iterator[str]:
        self._layout.cwd = event.cwd or self._layout.cwd
        if self._has_head:
            return
        self._has_head = True
        parts = [
            f"{self._agent} {event.version}" if event.version else self._agent,
            event.model or self._context.model,
            from_home(self._layout.cwd, self._home) if self._layout.cwd else None,
            f"run {self._context.run}" if self._context.run else None,
        ]
        yield self._rook + safe_line(" · ".join(part for part in parts if part))

    def _tool_started(self, event: ToolStarted, record: Record) -> Iterator[str]:
        call = self._open[event.id] = words.call(event, record.at, self._layout.cwd)
        if event.kind == "subagent":
            self._layout.subagents[event.id] = call
            aside = (event.subagent,) if event.subagent else ()
            yield from self._layout.render(call.line(*aside), call)

    def _tool_finished(self, event: ToolFinished, record: Record) -> Iterator[str]:
        call = self._open.pop(event.id, None)
        change = self._changed.pop(event.id, None)
        otherwise = event.id in self._layout.subagents or event.status in _SHOWN_BY_OTHERS
        if call and not otherwise:
            took = words.took(call, record.at, shortest=self._shortest) or ""
            took = "cut off" if event.status == "orphaned" else took
            if call.kind == "edit" and event.status == "ok" and change is None:
                self._held = (event.id, call, took)
            else:
                yield from self._call(call, change, took)
        if event.status in words.FAILED:
            if call:
                self._failed[event.id] = call
            yield from self._layout.render(words.failed(event), call)
        elif event.status == "cancelled":
            yield from self._layout.render(words.cancelled(event, call), call)
        elif self._verbose and event.status == "ok" and (line := words.output(event)):
            yield from self.released()
            yield from self._layout.render(line, call)

    def _file_changed(self, event: FileChanged, record: Record) -> Iterator[str]:
        if event.tool_id in self._open:
            self._changed[event.tool_id] = event
        return iter(())

    def _release(self, event: object) -> Iterator[str]:
        """Yield the line of an edit that was held back, with its lines if the event counts them."""
        if self._held is not None:
            id, call, took = self._held
            self._held = None
            change = event if isinstance(event, FileChanged) and event.tool_id == id else None
            yield from self._call(call, change, took)

    def _call(self, call: Call, change: FileChanged | None, took: str) -> Iterator[str]:
        counted = numbers.changed_lines(change.added, change.removed) if change else ""
        return self._layout.render(call.line(*filter(None, (counted, took))), call)

    def _said(self, event: Text, record: Record) -> Iterator[str]:
        if self._text and event.text.strip():
            yield from self._layout.render(words.text(event), parent=event.parent)

    def _permission_denied(self, event: PermissionDenied, record: Record) -> Iterator[str]:
        id = event.tool_id or ""
        call = self._open.get(id) or self._failed.get(id)
        yield from self._layout.render(words.denied(event, call), call)

    def _error(self, event: Error, record: Record) -> Iterator[str]:
        yield from self._layout.render(words.error(event))

    def _limit(self, event: LimitReported, record: Record) -> Iterator[str]:
        if event.status not in ("allowed", None) or self._verbose:
            for line in words.details(record):
                yield from self._layout.render(line)

    def _turn_finished(self, event: TurnFinished, record: Record) -> Iterator[str]:
        self._failed.clear()
        yield from self._layout.render(words.ending(event, self._context.cost))
