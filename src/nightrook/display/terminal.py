"""The terminal display: lines scroll by above a status line, which disappears at the end.

`TerminalLines` has the plain words in colour, with what belongs beside them; `Layout` fits them to
the width. `display_for` picks this display or the plain one for an output.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Self, TextIO

from nightrook.display import cells, event_lines
from nightrook.display.console import Look, Paint, columns
from nightrook.display.event_lines import Call, Calls, EndedCall, Line, Role, RunContext, ShownTexts
from nightrook.display.plain import PlainDisplay
from nightrook.display.screen import Echo, Screen
from nightrook.display.status import status_line
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
from nightrook.model.snapshot import Plan, Snapshot

_WIDEST = 100  # the right side would be too far from its line
_GAP = 2
_SIGNS = {"+": "added", "−": "removed"}


class _Row(NamedTuple):
    """A row of a line: the part in the line's colour, the rest, and the right side."""

    head: str
    rest: str
    right: str


class Layout:
    """Lays out the lines of one agent, under the subagents that they belong to."""

    def __init__(
        self,
        agent: str,
        columns: Callable[[], int],
        paint: Paint,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.cwd: str | None = None
        """The folder that paths are relative to."""
        self.subagents: dict[str, Call] = {}
        """The calls of subagents so far, by their ids."""
        self._agent = agent
        self._columns = columns
        self._paint = paint
        self._redact = redact
        self._prefix = paint("prefix", f"[{agent}]") + " "
        self._latest_parent: str | None = None

    def render(
        self, line: Line, call: Call | None = None, *, parent: str | None = None
    ) -> Iterator[str]:
        """A line as it is on the screen: prefix, bars, text and the right side.

        What is too long for it continues below, under its beginning.
        """
        parent = call.parent if call else parent
        bars = "│ " * self._depth(parent)
        right = "  ".join(self._asides(line, parent))
        head, rest = safe_line(line.head), safe_line(line.rest)
        indent = cells.width(f"[{self._agent}] {bars}")
        room = self._columns() - indent
        if cells.width(head + rest) + (cells.width(right) + _GAP if right else 0) > room:
            first, *more = self._rows(head, rest, right, room)
        else:
            first, more = _Row(head, rest, right), []
        path = call.path if call and line.role == "tool" else None
        start = self._prefix + self._paint("aside", bars)
        yield start + self._painted(first, line.role, path, indent) if head else start.rstrip()
        for row in more:
            yield " " * indent + self._painted(row, line.role, path, indent)

    def _rows(self, head: str, rest: str, right: str, room: int) -> list["_Row"]:
        """Return the rows of a line that is too long; a short right side stays on the first."""
        # guards: row-redacted
        text = self._redact(head + rest)  # before a break can split a secret
        blank = len(text) - len(text.lstrip())
        is_short = cells.width(right) <= room // 3
        beside = cells.width(right) + _GAP if right and is_short else 0
        left = len(head) if rest else len(text)
        rows: list[_Row] = []
        for part in cells.wrap(text.lstrip(), room - beside - blank):
            row = " " * blank + part
            rows.append(_Row(row[:left], row[left:], right if is_short and not rows else ""))
            left = max(0, left - len(row) - 1)
        return rows if is_short else [*rows, _Row("", "", right)]

    def _painted(self, row: "_Row", role: Role, path: str | None, indent: int) -> str:
        """A row in colours, the path in it linked."""
        about = row.rest.removeprefix(": ")
        painted = self._paint(role, row.head) + row.rest[: len(row.rest) - len(about)]
        painted += self._paint.link(about, os.path.join(self.cwd or "", path)) if path else about
        if not row.right:
            return painted
        if used := cells.width(row.head + row.rest):
            used += indent + cells.width(row.right)
            painted += " " * max(min(self._columns(), _WIDEST) - used, _GAP)
        return painted + self._beside(row.right, role)

    def _asides(self, line: Line, parent: str | None) -> list[str]:
        """The text on the right of a line; if several subagents work, with the name of the one."""
        aside = [safe_line(part) for part in line.aside]
        if parent is not None and parent != self._latest_parent and len(self.subagents) > 1:
            known = self.subagents.get(parent)
            aside.append(safe_line(known.about) if known else "")
        self._latest_parent = parent
        return [part for part in aside if part]

    def _beside(self, right: str, role: Role) -> str:
        """The right side, dimmed; added and removed lines have their colours."""
        if role != "tool":
            return right
        parts = (self._paint(_SIGNS.get(part[:1], "aside"), part) for part in right.split(" "))
        return " ".join(parts)

    def _depth(self, parent: str | None) -> int:
        """The depth of a call in subagents."""
        depth, seen = 0, parent
        while seen is not None and depth < 8:
            depth += 1
            call = self.subagents.get(seen)
            seen = call.parent if call else None
        return depth


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
        """True while an edit is held back until its lines are counted."""
        return self._calls.is_holding

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        event = record.event
        if self._calls.is_holding and not isinstance(event, FileChanged):
            yield from self.released()
        way = self._ways.get(event.__class__)
        if way is not None:
            yield from way(event, record)
        elif event.__class__ not in event_lines.DETAILS:
            return
        elif warning := event_lines.warning(record):
            yield self._rook + self._paint("error", f"WARNING: {warning}")
        else:
            for line in event_lines.details(record, verbose=self._verbose):
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
        if event.status in event_lines.FAILED:
            yield from self._layout.render(event_lines.failed(event), call)
        elif event.status == "cancelled":
            yield from self._layout.render(event_lines.cancelled(event, call), call)
        elif self._verbose and event.status == "ok" and (line := event_lines.output(event)):
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
        yield from self._layout.render(event_lines.denied(event, call, by_person=by_person), call)

    def _error(self, event: Error, record: Record) -> Iterator[str]:
        yield from self._layout.render(event_lines.error(event))

    def _turn_finished(self, event: TurnFinished, record: Record) -> Iterator[str]:
        self._calls.end_turn()
        yield from self._layout.render(event_lines.ending(event, self._context.cost))


_PROGRESS = "\x1b]9;4;{};{}\x1b\\"
_BUSY, _PART, _OVER = 3, 1, 0


class TerminalDisplay:
    """Shows the records of one stream on a terminal."""

    def __init__(
        self,
        screen: Screen,
        agent: str,
        *,
        columns: Callable[[], int],
        context: RunContext | None = None,
        verbose: bool = False,
        text: bool = True,
        paint: Paint | None = None,
        progress: bool = False,
        home: str | None = None,
    ) -> None:
        self.screen = screen
        self._columns = columns
        self._context = context or RunContext()
        self._paint = paint or Paint()
        self._progress = progress
        self._began = self._context.began
        self._lines = TerminalLines(
            agent,
            columns=columns,
            context=self._context,
            verbose=verbose,
            text=text,
            paint=self._paint,
            home=home,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def show(self, record: Record) -> None:
        """Write the lines that show a record, above the status line."""
        self.screen.put(list(self.lines(record)))

    def say(self, *lines: str) -> None:
        """Write lines of rook's own, such as a warning, above the status line."""
        self.screen.put(self._lines.own(*lines))

    def put(self, lines: list[str]) -> None:
        """Write lines that this display returned."""
        self.screen.put(lines)

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        if self._began is None:
            self._began = record.at
        return self._lines.lines(record)

    @property
    def texts(self) -> ShownTexts:
        """The agent's texts so far."""
        return self._lines.texts

    @property
    def is_holding(self) -> bool:
        """True while an edit is held back until its lines are counted."""
        return self._lines.is_holding

    def released(self) -> Iterator[str]:
        """Yield the line of an edit that was held back until its lines are counted, if any."""
        return self._lines.released()

    def tick(self, now: float) -> None:
        """Show the current activity in the status line."""
        self.screen.put(list(self.released()))
        self.frame(now)()

    def frame(self, now: float) -> Callable[[], None]:
        """A function that draws the status line for this time, for another thread to call."""
        shot = self._context.snapshot()
        return partial(self.screen.status, self._status(shot, now), self._signal(shot.plan))

    def status(self, now: float) -> str:
        """The status line for this time, at least one column narrower than the terminal."""
        return self._status(self._context.snapshot(), now)

    def pause(self) -> None:
        """Hide the status line until `resume`: something else needs the terminal."""
        self.screen.pause()

    def resume(self) -> None:
        """Show the status line again."""
        self.screen.resume()

    def close(self) -> None:
        """Write the text that was held back and remove the status line."""
        self.screen.put(list(self.released()))
        self.screen.close(_PROGRESS.format(_OVER, 0))

    def _status(self, shot: Snapshot, now: float) -> str:
        return status_line(
            shot,
            now=now,
            began=now if self._began is None else self._began,
            cwd=self._lines.cwd,
            reports_starts=self._context.reports_starts,
            width=self._columns() - 1,
            paint=self._paint,
        )

    def _signal(self, plan: Plan) -> str:
        """The sequence that shows the plan's progress in the terminal's tab, if there is one."""
        if not self._progress:
            return ""
        if not plan.total:
            return _PROGRESS.format(_BUSY, 0)
        return _PROGRESS.format(_PART, 100 * plan.done // plan.total)


Display = PlainDisplay | TerminalDisplay


def display_for(
    out: TextIO,
    agent: str,
    *,
    look: Look,
    context: RunContext | None = None,
    verbose: bool = False,
    text: bool = True,
    home: str | None = None,
    echo: Echo | None = None,
) -> Display:
    """The display for an output; paths below `home` are shown with `~`.

    `echo` is the terminal's, if the caller restores it as well.
    """
    paint = look.paint()
    if not look.terminal:
        return PlainDisplay(
            out, agent, context=context, verbose=verbose, text=text, paint=paint, home=home
        )

    def width() -> int:
        return columns(out)

    return TerminalDisplay(
        Screen(out, width, echo or Echo(out)),
        agent,
        columns=width,
        context=context,
        verbose=verbose,
        text=text,
        paint=paint,
        progress=look.progress,
        home=home,
    )
