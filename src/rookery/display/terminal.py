"""The form for somebody who watches: the plain words in colour, laid out, with a status line."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Self

from rookery.display import words
from rookery.display.console.paint import Paint
from rookery.display.console.screen import Screen
from rookery.display.layout import Layout
from rookery.display.status import status_line
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
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from rookery.model.records import Record
from rookery.model.safe import safe_line
from rookery.model.state import RunState

_NEWS = (Retrying, ContextCompacted, ModelChanged)  # told without being asked for
_TOLD_OTHERWISE = ("denied", "cancelled")  # by a line of their own
_PROGRESS = "\x1b]9;4;{};{}\x1b\\"
_BUSY, _PART, _OVER = 3, 1, 0


class TerminalDisplay:
    """Tells the records of one stream on a terminal.

    A call is told when it has ended, with how long it took and what it changed; until then the
    status line shows it. Only a subagent's call is told at its start: what it does follows it. Of
    an agent that is not `live`, which tells of a call when it has ended, nobody knows whether it
    waits for its model.
    """

    def __init__(
        self,
        screen: Screen,
        agent: str,
        *,
        columns: Callable[[], int],
        state: RunState | None = None,
        verbose: bool = False,
        text: bool = True,
        paint: Paint | None = None,
        progress: bool = False,
        began: float | None = None,
        run: str | None = None,
        home: str | None = None,
        live: bool = True,
    ) -> None:
        self.screen = screen
        self._agent = safe_line(agent)
        self._columns = columns
        self._state = state
        self._verbose = verbose
        self._text = text
        self._shortest = 0.1 if verbose else 1.0  # what took less is not worth telling
        self._paint = paint or Paint()
        self._layout = Layout(self._agent, columns, self._paint)
        self._layout.cwd = state.cwd if state else None
        self._progress = progress
        self._rook = self._paint("prefix", "[rook]") + " "
        self._began = began
        self._run = run
        self._home = home
        self._resting = "waits for the model" if live else "works"
        self._headed = False
        self._open: dict[str, Call] = {}
        self._failed: dict[str, Call] = {}  # their turn's result may say that they were denied
        self._changed: dict[str, FileChanged] = {}  # of calls that have not ended
        self._held: tuple[str, Call, str] | None = None  # an edit whose lines are not counted yet
        self._doing = "starts"
        self._since: float | None = None
        self._told: Mapping[type, Callable[[Any, Record], Iterator[str]]] = {
            SessionStarted: self._session_started,
            ToolStarted: self._tool_started,
            ToolFinished: self._tool_finished,
            FileChanged: self._file_changed,
            Text: self._said,
            TextDelta: self._writes,
            ThinkingDelta: self._thinks,
            PermissionDenied: self._permission_denied,
            Error: self._error,
            LimitReported: self._limit,
            TurnFinished: self._turn_finished,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def show(self, record: Record) -> None:
        """Write the lines that tell of a record, above the status line."""
        self.screen.put(list(self.lines(record)))

    def say(self, *lines: str) -> None:
        """Write lines of rook's own, such as a warning, above the status line."""
        self.screen.put([self._rook + safe_line(line) for line in lines])

    def put(self, lines: list[str]) -> None:
        """Write lines that this display gave."""
        self.screen.put(lines)

    def lines(self, record: Record) -> Iterator[str]:
        """Give the lines, without newline, that tell of a record; often there are none."""
        event = record.event
        if self._held is not None:
            yield from self._release(event)
        if self._began is None:
            self._began = record.at
        tell = self._told.get(event.__class__)
        if tell is not None:
            yield from tell(event, record)
        elif record.event.__class__ not in words.DETAILS:
            return
        elif warning := words.warning(record):
            yield self._rook + self._paint("error", f"WARNING: {warning}")
        elif self._verbose or isinstance(event, _NEWS):
            for line in words.details(record):
                yield from self._layout.render(line)

    @property
    def is_holding(self) -> bool:
        """Whether an edit is held back until its lines are counted."""
        return self._held is not None

    def released(self) -> Iterator[str]:
        """Give the line of an edit that was held back until its lines are counted, if any."""
        return self._release(None)

    def tick(self, now: float) -> None:
        """Show what is going on at this time in the status line."""
        self.screen.put(list(self.released()))
        self.frame(now)()

    def frame(self, now: float) -> Callable[[], None]:
        """What draws the status line for this time, ready to be called by another thread."""
        return partial(self.screen.status, self.status(now), self._signal())

    def status(self, now: float) -> str:
        """The status line for this time; it fits the terminal's width but for one column."""
        doing, since = self._now()
        began = now if self._began is None else self._began
        return status_line(
            doing,
            since,
            now=now,
            began=began,
            state=self._state,
            width=self._columns() - 1,
            paint=self._paint,
        )

    def pause(self) -> None:
        """Take the status line away: somebody else needs the terminal, until `resume`."""
        self.screen.pause()

    def resume(self) -> None:
        """Show the status line again."""
        self.screen.resume()

    def close(self) -> None:
        """Take the status line away for good, and tell what was held back."""
        self.screen.put(list(self.released()))
        self.screen.close(_PROGRESS.format(_OVER, 0))

    def _signal(self) -> str:
        """What tells the terminal how far it is: how much of the plan is done, if there is one."""
        if not self._progress:
            return ""
        plan = self._state.plan if self._state else ()
        if not plan:
            return _PROGRESS.format(_BUSY, 0)
        done = sum(item.status == "completed" for item in plan)
        return _PROGRESS.format(_PART, 100 * done // len(plan))

    def _now(self) -> tuple[str, float | None]:
        """What is going on, and since when."""
        state = self._state
        if state is not None and state.asked is not None:
            known = self._open.get(state.asked.tool_id or "")
            asked = known.words if known else state.asked.name or "a tool"
            return f"waits for an answer: {asked}", known.at if known else self._since
        if state is not None and state.retrying is not None:
            line = words.retry(state.retrying)
            return line.head + line.rest, None
        if self._open:
            latest = next(reversed(self._open.values()))
            more = len(self._open) - 1 - (latest.parent in self._open)
            return f"{latest.words} (+{more})" if more > 0 else latest.words, latest.at
        if state is not None and state.open_tasks:
            task = state.open_tasks[-1]
            return task.doing or task.title or "a task", task.started_at
        return self._doing, self._since

    def _session_started(self, event: SessionStarted, record: Record) -> Iterator[str]:
        self._layout.cwd = event.cwd or self._layout.cwd
        self._rests(record, self._resting)
        if self._headed:
            return
        self._headed = True
        parts = [
            f"{self._agent} {event.version}" if event.version else self._agent,
            event.model or (self._state.model if self._state else None),
            words.from_home(self._layout.cwd, self._home) if self._layout.cwd else None,
            f"run {self._run}" if self._run else None,
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
        self._rests(record, self._resting)
        change = self._changed.pop(event.id, None)
        otherwise = event.id in self._layout.subagents or event.status in _TOLD_OTHERWISE
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
        """Tell of an edit that was held back, with its lines if this event counts them."""
        if self._held is not None:
            id, call, took = self._held
            self._held = None
            change = event if isinstance(event, FileChanged) and event.tool_id == id else None
            yield from self._call(call, change, took)

    def _call(self, call: Call, change: FileChanged | None, took: str) -> Iterator[str]:
        counted = words.changes(change.added, change.removed) if change else ""
        return self._layout.render(call.line(*filter(None, (counted, took))), call)

    def _said(self, event: Text, record: Record) -> Iterator[str]:
        self._rests(record, self._resting)
        if self._text and event.text.strip():
            yield from self._layout.render(words.text(event), parent=event.parent)

    def _writes(self, event: TextDelta, record: Record) -> Iterator[str]:
        return self._does("writes", record)

    def _thinks(self, event: ThinkingDelta, record: Record) -> Iterator[str]:
        return self._does("thinks", record)

    def _does(self, doing: str, record: Record) -> Iterator[str]:
        if self._doing != doing:
            self._rests(record, doing)
        return iter(())

    def _rests(self, record: Record, doing: str) -> None:
        self._doing, self._since = doing, record.at

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
        self._rests(record, "waits")
        yield from self._layout.render(words.ending(event, self._state))
