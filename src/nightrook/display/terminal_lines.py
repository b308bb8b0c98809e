"""The lines of a run on a terminal: the plain words in colour, with what belongs beside them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nightrook.display import words
from nightrook.display.calls import Calls, EndedCall
from nightrook.display.console.paint import Paint
from nightrook.display.context import RunContext
from nightrook.display.layout import Layout
from nightrook.display.texts import ShownTexts
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
        self.texts = ShownTexts(verbose=verbose)
        """The agent's texts so far."""
        self._agent = safe_line(agent)
        self._context = context
        self._verbose = verbose
        self._text = text
        self._shortest = 0.1 if verbose else 1.0  # seconds; shorter times are left out
        self._paint = paint or Paint()
        self._layout = Layout(self._agent, columns, self._paint, context.redact)
        self._layout.cwd = context.cwd
        self._rook = self._paint("prefix", "[rook]") + " "
        self._home = home
        self._has_head = False
        self._calls = Calls()
        self._ways: Mapping[type, Callable[[Any, Record], Iterator[str]]] = {
            SessionStarted: self._session_started,
            ToolStarted: self._tool_started,
            ToolFinished: self._tool_finished,
            FileChanged: self._file_changed,
            Text: self._said,
            PermissionDenied: self._permission_denied,
            Error: self._error,
            TurnFinished: self._turn_finished,
        }

    @property
    def cwd(self) -> str | None:
        """The folder that paths are relative to."""
        return self._layout.cwd

    @property
    def is_holding(self) -> bool:
        """Whether an edit is held back until its lines are counted."""
        return self._calls.is_holding

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        event = record.event
        if self._calls.is_holding and not isinstance(event, FileChanged):
            yield from self.released()
        way = self._ways.get(event.__class__)
        if way is not None:
            yield from way(event, record)
        elif event.__class__ not in words.DETAILS:
            return
        elif warning := words.warning(record):
            yield self._rook + self._paint("error", f"WARNING: {warning}")
        else:
            for line in words.details(record, verbose=self._verbose):
                yield from self._layout.render(line)

    def released(self) -> Iterator[str]:
        """Yield the lines of an edit that was held back until its lines are counted, if any."""
        if ended := self._calls.release():
            yield from self._ended(ended)

    def own(self, *lines: str) -> list[str]:
        """Yield lines of rook's own, such as a warning."""
        return [self._rook + safe_line(line) for line in lines]

    def _session_started(self, event: SessionStarted, record: Record) -> Iterator[str]:
        self._layout.cwd = event.cwd or self._layout.cwd
        if self._has_head:
            return
        self._has_head = True
        cwd, home = self._layout.cwd, self._home
        heading = self._context.heading(event, self._agent, cwd=cwd, home=home)
        yield self._rook + safe_line(heading)

    def _tool_started(self, event: ToolStarted, record: Record) -> Iterator[str]:
        call = self._calls.start(event, record.at, self._layout.cwd)
        if event.kind == "subagent":
            self._layout.subagents[event.id] = call
            aside = (event.subagent,) if event.subagent else ()
            yield from self._layout.render(call.line(*aside), call)

    def _tool_finished(self, event: ToolFinished, record: Record) -> Iterator[str]:
        if ended := self._calls.finish(event, record.at):
            yield from self._ended(ended)

    def _ended(self, ended: EndedCall) -> Iterator[str]:
        event, call = ended.finished, ended.call
        otherwise = event.id in self._layout.subagents or event.status in _SHOWN_BY_OTHERS
        if call and not otherwise:
            took = "cut off" if event.status == "orphaned" else ended.took(self._shortest)
            aside = filter(None, (ended.counted(), took))
            yield from self._layout.render(call.line(*aside), call)
        if event.status in words.FAILED:
            yield from self._layout.render(words.failed(event), call)
        elif event.status == "cancelled":
            yield from self._layout.render(words.cancelled(event, call), call)
        elif self._verbose and event.status == "ok" and (line := words.output(event)):
            yield from self._layout.render(line, call)

    def _file_changed(self, event: FileChanged, record: Record) -> Iterator[str]:
        self._calls.count(event)
        return iter(())

    def _said(self, event: Text, record: Record) -> Iterator[str]:
        if self._text and event.text.strip():
            for line in self.texts.lines(event.text, self._context.redact):
                yield from self._layout.render(line, parent=event.parent)

    def _permission_denied(self, event: PermissionDenied, record: Record) -> Iterator[str]:
        call = self._calls.find(event.tool_id)
        by_person = self._context.is_by_person(event)
        yield from self._layout.render(words.denied(event, call, by_person=by_person), call)

    def _error(self, event: Error, record: Record) -> Iterator[str]:
        yield from self._layout.render(words.error(event))

    def _turn_finished(self, event: TurnFinished, record: Record) -> Iterator[str]:
        self._calls.end_turn()
        yield from self._layout.render(words.ending(event, self._context.cost))
