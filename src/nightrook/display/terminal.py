"""The terminal display: lines scroll by above a status line, which disappears at the end."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Self

from nightrook.display.console.paint import Paint
from nightrook.display.console.screen import Screen
from nightrook.display.context import RunContext
from nightrook.display.status import status_line
from nightrook.display.terminal_lines import TerminalLines
from nightrook.display.texts import ShownTexts
from nightrook.model.records import Record
from nightrook.model.snapshot import Plan, Snapshot

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
        """Whether an edit is held back until its lines are counted."""
        return self._lines.is_holding

    def released(self) -> Iterator[str]:
        """Yield the line of an edit that was held back until its lines are counted, if any."""
        return self._lines.released()

    def tick(self, now: float) -> None:
        """Show in the status line what is running at this time."""
        self.screen.put(list(self.released()))
        self.frame(now)()

    def frame(self, now: float) -> Callable[[], None]:
        """What draws the status line for this time, ready to be called by another thread."""
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
        """Write what was held back and remove the status line."""
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
        """What shows in the terminal's tab how much of the plan is done, if there is one."""
        if not self._progress:
            return ""
        if not plan.total:
            return _PROGRESS.format(_BUSY, 0)
        return _PROGRESS.format(_PART, 100 * plan.done // plan.total)
