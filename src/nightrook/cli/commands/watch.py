"""`rook watch`: every session and run on this machine, live."""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Self, TextIO

import click
import msgspec

from nightrook.archive.session_files import user_homes
from nightrook.archive.watch.file_changes import FileChanges
from nightrook.archive.watch.watch import Watch
from nightrook.archive.watch.watch_rows import Row, Update
from nightrook.cli.options.parameters import takes
from nightrook.cli.session_filter import check_agent
from nightrook.cli.terminal.interrupts import ended_by_signals
from nightrook.cli.terminal.output import guarded, is_gone, put_json
from nightrook.config.archive_options import WatchOptions
from nightrook.display.cells import fit
from nightrook.display.console import Look, columns, height, look_of
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainLines
from nightrook.display.screen import Echo, Screen
from nightrook.display.terminal import TerminalLines
from nightrook.display.watch import (
    first_line,
    last_line,
    prompt_line,
    waiting_line,
    watch_table,
)
from nightrook.model.events import (
    Event,
    SessionStarted,
    StreamClosed,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    UserMessage,
)
from nightrook.model.records import Record
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.store.filters import is_below, is_project, read_project
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook watch
  rook watch --project . --since 2h
  rook watch --agent claude --quiet
  rook watch --json | jq -r 'select(.waiting) | .name'
"""
_LOOK_S = 0.2  # between two looks at what has changed
_DRAW_S = 1.0  # between two drawings of the table, if nothing changes
_FORGET_S = 10.0  # between two looks at what is no longer active
_LEFT_OUT = (TextDelta, ThinkingDelta, ToolInputDelta)  # the whole text follows
_FEWEST_ROWS = 3


@click.command("watch", epilog=_EXAMPLES)
@takes("watch", WatchOptions)
def command(options: WatchOptions) -> None:
    """Show what all agents on this machine do now: runs, and sessions that you have with an agent.

    On a terminal, a table lists everything that is active, with what it does, tokens and cost, and
    which of it waits for you; what happens scrolls by above it. In a pipe, each event is a line
    that begins with the agent and the name of the run or session. Nothing in an agent's folder is
    changed. Ctrl-C ends it; agents do not notice.
    """
    check_agent(options.agent)
    look = look_of(sys.stdout, os.environ)
    project = None if options.project is None else read_project(options.project)
    watch = Watch(
        home_folder(),
        user_homes(),
        agent=options.agent,
        wants=lambda row: project is None or _is_in(row, project),
        active_s=options.since,
    )
    view = (
        JsonWatchView(sys.stdout)
        if options.json
        else WatchView(sys.stdout, look, quiet=options.quiet, home=os.path.expanduser("~"))
    )
    try:
        with ended_by_signals(), view:
            _follow(watch, view)
    finally:
        watch.close()


class _Waiting:
    """The sessions and runs that wait for a person."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()

    def new(self, rows: Iterable[Row]) -> list[Row]:
        """Return those that did not wait at the last call."""
        now = time.time()
        waiting = {(row.kind, row.name): row for row in rows if row.is_waiting(now)}
        new = [row for key, row in waiting.items() if key not in self._known]
        self._known = set(waiting)
        return new


class WatchView(AbstractContextManager["WatchView"]):
    """Shows new records; on a terminal, also a table of all active sessions and runs."""

    def __init__(self, out: TextIO, look: Look, *, quiet: bool = False, home: str) -> None:
        self._out = out
        self._look = look
        self._quiet = quiet
        self._home = home
        self._rows: dict[tuple[str, str], Row] = {}
        self._waiting = _Waiting()
        self._lines: dict[tuple[str, str], PlainLines | TerminalLines] = {}
        self._screen = Screen(out, self._columns, Echo(out)) if look.terminal else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.close()

    def show(self, updates: Iterable[Update]) -> None:
        """Write the new records."""
        lines: list[str] = []
        for update in updates:
            key = (update.row.kind, update.row.name)
            self._rows[key] = update.row
            lines += () if self._quiet else self._lines_of(update, key)
            if update.is_over:
                self._rows.pop(key, None)
                self._lines.pop(key, None)
        self._put(lines)

    def draw(self) -> None:
        """Draw the table as it is now, if there is one."""
        if self._screen is None:
            new = self._waiting.new(self._rows.values())
            self._put([] if self._quiet else [waiting_line(row) for row in new])
            return
        width = self._columns() - 1
        room = height(self._out) - 1
        table = watch_table(
            list(self._rows.values()),
            now=time.time(),
            width=width,
            height=max(_FEWEST_ROWS, room if self._quiet else room // 2),
            home=self._home,
            paint=self._look.paint(),
        )
        self._screen.status("\n".join(table))

    def say(self, message: str) -> None:
        """Write a line of rook itself: among a pipe's lines, or above the table."""
        if self._screen is not None:
            self._screen.put([f"[rook] {fit(message, self._columns() - 8)}"])
        else:
            sys.stderr.write(f"[rook] {message}\n")
            sys.stderr.flush()

    def _lines_of(self, update: Update, key: tuple[str, str]) -> Iterator[str]:
        row = update.row
        if update.is_first:
            yield first_line(row, self._home)
        lines = self._lines.get(key)
        if lines is None:
            lines = self._lines[key] = self._new_lines(key)
        for record in update.records:
            event = record.event
            if isinstance(event, UserMessage) and not event.synthetic and not event.replay:
                yield self._prompt(row, event.text)
            elif not isinstance(event, SessionStarted):
                yield from lines.lines(record)
        yield from lines.released()
        if update.is_over and row.kind == "run":
            yield last_line(row)

    def _prompt(self, row: Row, text: str) -> str:
        # guards: watched-prompt-redacted
        redacted = guarded(self._out).redacted(text)  # before it is cut
        width = self._columns() if self._screen is not None else None
        return prompt_line(row, redacted, width=width, paint=self._look.paint())

    def _new_lines(self, key: tuple[str, str]) -> PlainLines | TerminalLines:
        row = self._rows[key]
        context = RunContext(
            cwd=row.project,
            snapshot=lambda: self._rows[key].snapshot,
            redact=guarded(self._out).redacted,
        )
        paint = self._look.paint()
        if self._screen is None:
            return PlainLines(row.label, context=context, paint=paint, home=self._home)
        return TerminalLines(
            row.label, columns=self._columns, context=context, paint=paint, home=self._home
        )

    def _put(self, lines: list[str]) -> None:
        if not lines:
            return
        if self._screen is not None:
            self._screen.put(lines)
        else:
            self._out.write("".join(f"{line}\n" for line in lines))
            self._out.flush()

    def _columns(self) -> int:
        return columns(self._out)


class _Change(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A line of `rook watch --json`."""

    kind: str
    agent: str | None
    name: str
    project: str | None
    at: float
    activity: str
    waiting: bool
    tokens: dict[str, int | None]
    cost_usd: float | None
    cost_source: str
    status: str | None = None
    ended: bool = False
    event: Event | None = None


class JsonWatchView(AbstractContextManager["JsonWatchView"]):
    """Writes a line of JSON for each event, and one when something is first seen or has ended."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._rows: dict[tuple[str, str], Row] = {}
        self._waiting = _Waiting()

    def __exit__(self, *_: object) -> None:
        """Do nothing: every line is written already."""

    def show(self, updates: Iterable[Update]) -> None:
        """Write the new records."""
        for update in updates:
            row = self._rows[update.row.kind, update.row.name] = update.row
            if update.is_first:
                self._put(row)
            for record in update.records:
                if not isinstance(record.event, (*_LEFT_OUT, StreamClosed)):
                    self._put(row, record)
            if update.is_over:
                self._put(row, ended=True)
                del self._rows[row.kind, row.name]

    def draw(self) -> None:
        """Write which sessions and runs now wait for a person."""
        for row in self._waiting.new(self._rows.values()):
            self._put(row)

    def say(self, message: str) -> None:
        """Write a line of rook's own to standard error."""
        sys.stderr.write(f"[rook] {message}\n")
        sys.stderr.flush()

    def _put(self, row: Row, record: Record | None = None, *, ended: bool = False) -> None:
        at = row.changed_at if record is None or record.at is None else record.at
        change = _Change(
            kind=row.kind,
            agent=row.agent,
            name=row.name,
            project=row.project,
            at=at,
            activity=row.snapshot.activity,
            waiting=row.is_waiting(time.time()),
            tokens=msgspec.structs.asdict(row.tokens),
            cost_usd=row.cost.usd,
            cost_source=row.cost.source,
            status=row.status if ended else None,
            ended=ended,
            event=None if record is None else record.event,
        )
        put_json(self._out, msgspec.json.encode(change))


def _follow(watch: Watch, view: WatchView | JsonWatchView) -> None:
    view.show(watch.start())
    _say_how(watch.changes, view)
    drawn = forgotten = time.monotonic()
    view.draw()
    while not is_gone(sys.stdout):
        time.sleep(_LOOK_S)
        updates, now = watch.look(), time.monotonic()
        if now - forgotten > _FORGET_S:
            updates, forgotten = [*updates, *watch.forget()], now
        view.show(updates)
        if updates or now - drawn > _DRAW_S:
            view.draw()
            drawn = now


def _say_how(changes: FileChanges, view: WatchView | JsonWatchView) -> None:
    """Report the folders that cannot be watched properly."""
    for why, folders in changes.polled_because.items():
        view.say(f"{count(folders, 'folder')} polled instead of watched: {why}")
    for folder, why in changes.problems.items():
        view.say(f"cannot watch {safe_line(folder)}: {why}")


def _is_in(row: Row, project: str) -> bool:
    """True for a session or run in a folder, which may be the last part of a path."""
    return is_below(row.project, project) or is_project(row.project, project)
