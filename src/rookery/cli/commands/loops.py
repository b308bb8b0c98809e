"""`rook loops` and `rook show LOOP`: what loops did, and what they do now."""

import os
import sys
import time
from collections.abc import Callable, Sequence

import click
import msgspec

from rookery.cli.live.output import put
from rookery.display import loop_words
from rookery.display.console.look import columns, look_of
from rookery.display.console.table import table
from rookery.loops import store
from rookery.loops.current_run import Going, going
from rookery.loops.state import Attempt, LoopState
from rookery.loops.store import LoopFolder
from rookery.model.text import one_line
from rookery.runs.home import home_folder

_LONGEST_PROMPT = 50
_UNCUT = 10_000
_OUTPUT_LINES = 5
_OUTPUT_LINES_FULL = 200


@click.command("loops", epilog="Example:  rook loops")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def loops_(as_json: bool) -> None:
    """List the loops, the newest first."""
    found = [(folder, folder.state(), folder.plan()) for folder in store.loops(home_folder())]
    if as_json:
        for folder, state, _ in found:
            click.echo(msgspec.json.encode({"loop": folder.name, "state": state}))
        return
    if not found:
        click.echo('there are no loops yet; start one:  rook loop "Fix the tests" --check "…"')
        return
    rows = []
    for folder, _, plan in found:
        seen = _Seen.of(folder)
        what = one_line(plan.prompt or plan.prompt_file or "", _LONGEST_PROMPT)
        rows.append((folder.name, seen.status, seen.total, what))
    for line in _laid_out(("LOOP", "STATUS", "WHAT IT TOOK", "WHAT"), rows):
        put(sys.stdout, line)


def show_loop(name: str, *, full: bool = False) -> None:
    """Show what a loop did; in full with the checks of every iteration, not only the last."""
    folder = store.find(home_folder(), name)
    plan, seen = folder.plan(), _Seen.of(folder)
    state, paint = seen.state, look_of(sys.stdout, os.environ).paint()
    say(f"{paint('strong', folder.name)} · {loop_words.goal(plan)}")
    if plan.worktree:
        say(loop_words.worktree(str(folder.worktree), folder.branch))
    if state is None:
        say("it was not begun")
        return
    put_table(state, seen.row)
    for attempt in state.attempts if full else state.attempts[-1:]:
        _put_checks(attempt, paint, _OUTPUT_LINES_FULL if full else _OUTPUT_LINES)
    say(seen.doing(paint))
    say(seen.total)
    for line in () if seen.is_run else loop_words.way_on(folder.name, plan, state):
        say(line)


def stop_loop(name: str) -> None:
    """Ask a loop to stop that is going on, wherever it is run."""
    folder = store.find(home_folder(), name)
    folder.ask_to_stop()
    click.echo(f"[rook] asked loop {folder.name} to stop", err=True)


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A loop as it is now, with the run that it has begun and not counted yet."""

    name: str
    state: LoopState | None
    is_run: bool
    going: Going | None = None
    now: float
    """Of a loop that was cut off, its last sign of life."""

    @classmethod
    def of(cls, folder: LoopFolder) -> "_Seen":
        """Look at a loop."""
        is_run, state, now = folder.is_run, folder.state(), time.time()
        begun = None if state is None else state.begun
        if state is not None and state.end is None and not is_run:
            now = max((event.at for event in folder.events()), default=state.started_at)
        return cls(
            name=folder.name,
            state=state,
            is_run=is_run,
            going=None if begun is None else going(home_folder(), folder.name, begun),
            now=now,
        )

    @property
    def status(self) -> str:
        """In a word."""
        if self.is_run:
            return "running"
        end = self.state.end if self.state else None
        return end.replace("_", " ") if end else "cut off"

    @property
    def total(self) -> str:
        """What it took by now."""
        return loop_words.total(self.state, now=self.now, going=self.going) if self.state else ""

    @property
    def row(self) -> loop_words.Row | None:
        """The run that is not counted yet, as a row of the table."""
        return loop_words.going_row(self.going, self.status, now=self.now) if self.going else None

    def doing(self, paint: loop_words.Paint) -> str:
        """What it does now, and how to see more of that or end it; or how it ended."""
        assert self.state is not None
        if self.state.end is not None and not self.is_run:
            return loop_words.ending(self.state.end, self.state.reason, paint)
        if not self.is_run:
            return "it was cut off"
        stop = f"rook stop {self.name}"
        if self.going is not None and self.going.ended_at is None:
            which = f"iteration {self.going.iteration} is going on"
            return f"{which} · rook attach {self.going.run} · {stop}"
        if self.going is not None:
            return f"iteration {self.going.iteration} is being checked · {stop}"
        if self.state.wait is not None:
            wait = self.state.wait
            told = loop_words.waiting(wait.until, wait.until - self.now, wait.reason, paint)
            return f"{told} · {stop}"
        return f"it is going on · {stop}"


def _put_checks(attempt: Attempt, paint: loop_words.Paint, most: int) -> None:
    """Put how the checks of an iteration went, and what those printed that did not pass."""
    for check in attempt.checks:
        say(f"iteration {attempt.iteration} · {loop_words.check(check, paint)}")
        for line in loop_words.check_output(check, paint, most=most):
            put(sys.stdout, line)


def put_table(state: LoopState, more: loop_words.Row | None = None) -> None:
    """Put the table of the runs, if there are any."""
    paint = look_of(sys.stdout, os.environ).paint()

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        is_status = column == loop_words.HEAD.index("STATUS") and row < len(state.attempts)
        return loop_words.status(state.attempts[row].report.status, paint) if is_status else text

    rows = [*(loop_words.row(each) for each in state.attempts), *([] if more is None else [more])]
    for line in _laid_out(loop_words.HEAD, rows, painted) if rows else ():
        put(sys.stdout, line)


def _laid_out(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Callable[[int, int, str], str] = lambda _row, _column, text: text,
) -> list[str]:
    """Rows in columns, cut to the width of a terminal."""
    watched = look_of(sys.stdout, os.environ).terminal
    return table(head, rows, width=columns(sys.stdout) if watched else _UNCUT, paint=paint)


def say(line: str) -> None:
    """Put a line of ours."""
    put(sys.stdout, f"{look_of(sys.stdout, os.environ).paint()('prefix', '[rook]')} {line}")
