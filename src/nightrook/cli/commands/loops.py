"""`rook loops` and `rook show LOOP`: what loops did, and what they do now."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec

from nightrook.cli.options.parameters import takes
from nightrook.cli.safe_output import guarded
from nightrook.cli.terminal.ending import install_hints
from nightrook.cli.terminal.output import put, put_json
from nightrook.config.command_options import ListOptions
from nightrook.display.console import columns, look_of
from nightrook.display.loops import steps
from nightrook.display.loops.objects import loop_json
from nightrook.display.loops.summary import LoopView
from nightrook.display.table import table
from nightrook.loops.current_run import current_run
from nightrook.loops.events import CheckFinished
from nightrook.loops.state import Attempt, Check
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder, newest_first
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line, suggested
from nightrook.store.home import home_folder

_LONGEST_PROMPT = 50
_LONGEST_ERROR = 200
_UNCUT = 10_000
_OUTPUT_LINES = 5
_OUTPUT_LINES_FULL = 200
_STATUSES = {"STATUS": steps.iteration_status, "CHECK": steps.check_status}
"""The columns in colour, and what says in which."""


@click.command("loops", epilog="Example:  rook loops")
@takes("loops", ListOptions)
def command(options: ListOptions) -> None:
    """List loops, newest first."""
    folders = newest_first(home_folder())
    if options.json:
        for folder in folders:
            put_json(sys.stdout, msgspec.json.encode(loop_json(folder)))
        return
    if not folders:
        click.echo('There are no loops yet. Start one:  rook loop "Fix the tests" --check "…"')
        return
    for line in _laid_out(("LOOP", "STATUS", "USED", "PROMPT"), [_row(each) for each in folders]):
        put(sys.stdout, line)


def _row(folder: LoopFolder) -> tuple[str, str, str, str]:
    """A loop as a row; one that is damaged says so, and hides no other."""
    try:
        view = view_of(folder)
    except NightrookError as error:
        return folder.name, "damaged", "", safe_line(one_line(str(error), _LONGEST_ERROR))
    prompt = one_line(view.plan.run.prompt or view.plan.prompt_file or "", _LONGEST_PROMPT)
    return view.name, view.status, view.used, prompt


def show_loop(path: Path, *, full: bool = False) -> None:
    """Show what a loop did; `full` includes the checks of every iteration, not only the last."""
    folder = LOOP_FOLDERS.at(path)
    view, paint = view_of(folder), look_of(sys.stdout, os.environ).paint()
    say(f"{paint('strong', view.name)} · {steps.goal(view.plan)}")
    if view.plan.worktree:
        say(steps.worktree(str(folder.worktree), folder.branch))
    if view.state is None:
        say("never started")
        return
    put_runs(view)
    for attempt in view.state.attempts if full else view.state.attempts[-1:]:
        _put_checks(attempt, paint, _OUTPUT_LINES_FULL if full else _OUTPUT_LINES)
    say(view.activity(paint))
    say(view.used)
    _put_hints(view)


def view_of(folder: LoopFolder) -> LoopView:
    """Read a loop as it is now."""
    is_running, state, now = folder.is_running, folder.state(), time.time()
    pending = None if state is None else state.pending
    if state is not None and state.end is None and not is_running:
        now = max((event.at for event in folder.events()), default=state.started_at)
    return LoopView(
        name=folder.name,
        plan=folder.plan(),
        state=state,
        is_running=is_running,
        current=None if pending is None else current_run(home_folder(), folder.name, pending),
        now=now,
    )


def _put_checks(attempt: Attempt, paint: steps.Paint, most: int) -> None:
    """Print the checks of an iteration, and the output of those that failed."""
    for check in attempt.checks:
        say(f"iteration {attempt.iteration} · {steps.check_line(check, paint)}")
        put_check_output(check, paint, most)


def put_check_output(check: Check | CheckFinished, paint: steps.Paint, most: int) -> None:
    """Print the last lines of the output of a check that failed."""
    redact = guarded(sys.stdout).redacted  # before lines are left out
    for line in steps.check_output(check, paint, most=most, redact=redact):
        put(sys.stdout, line)


def put_end(view: LoopView) -> None:
    """Print the table of runs, how the loop ended, what it used and how to see or resume it."""
    look = look_of(sys.stdout, os.environ)
    if look.terminal:
        put(sys.stdout, "")
    if view.state is None:
        say("never started")
        return
    put_runs(view)
    say(view.activity(look.paint()))
    say(f"{view.used} · {suggested('show', view.name)}")
    _put_hints(view)


def _put_hints(view: LoopView) -> None:
    """Print how to install an agent that the loop did not find, and how to resume the loop."""
    last = view.state.last if view.state else None
    if last is not None and last.report.status == "not_started" and not view.is_running:
        for line in install_hints(last.report.run):
            say(line)
    for line in view.resume_hints():
        say(line)


def put_runs(view: LoopView) -> None:
    """Print the table of the runs, if there are any."""
    paint = look_of(sys.stdout, os.environ).paint()
    attempts = view.state.attempts if view.state else ()

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        status = _STATUSES.get(view.head[column]) if row < len(attempts) else None
        return text if status is None or not text else paint(status(attempts[row])[1], text)

    for line in _laid_out(view.head, view.rows, painted) if view.rows else ():
        put(sys.stdout, line)


def _laid_out(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Callable[[int, int, str], str] = lambda _row, _column, text: text,
) -> list[str]:
    """Rows in columns, cut to the width of a terminal."""
    is_terminal = look_of(sys.stdout, os.environ).terminal
    return table(head, rows, width=columns(sys.stdout) if is_terminal else _UNCUT, paint=paint)


def say(line: str) -> None:
    """Print a line of rook itself."""
    put(sys.stdout, f"{look_of(sys.stdout, os.environ).paint()('prefix', '[rook]')} {line}")
