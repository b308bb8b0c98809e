"""`rook loops` and `rook show LOOP`: what loops did, and what they do now."""

import os
import sys
from collections.abc import Callable, Sequence

import click
import msgspec

from rookery.cli.screens import put
from rookery.core.text import one_line
from rookery.display.look import columns, look_of
from rookery.display.table import table
from rookery.loop import store, words
from rookery.loop.state import Attempt, LoopState
from rookery.run.places import home_folder

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
    for folder, state, plan in found:
        status = "running" if folder.is_run else (state.end if state and state.end else "cut off")
        took = words.total(state) if state else ""
        what = one_line(plan.prompt or plan.prompt_file or "", _LONGEST_PROMPT)
        rows.append((folder.name, status.replace("_", " "), took, what))
    for line in _laid_out(("LOOP", "STATUS", "WHAT IT TOOK", "WHAT"), rows):
        put(sys.stdout, line)


def show_loop(name: str, *, full: bool = False) -> None:
    """Show what a loop did; in full with the checks of every iteration, not only the last."""
    folder = store.find(home_folder(), name)
    plan, state = folder.plan(), folder.state()
    paint = look_of(sys.stdout, os.environ).paint()
    say(f"{paint('strong', folder.name)} · {words.goal(plan)}")
    if state is None:
        say("it was not begun")
        return
    put_table(state)
    for attempt in state.attempts if full else state.attempts[-1:]:
        _put_checks(attempt, paint, _OUTPUT_LINES_FULL if full else _OUTPUT_LINES)
    if state.end is not None:
        say(words.ending(state.end, state.reason, paint))
    elif folder.is_run:
        say("it is going on")
    else:
        say("it was cut off")
    if not state.is_over and not folder.is_run:
        say(f"go on with:  rook loop --resume {folder.name}")
    say(words.total(state))


def _put_checks(attempt: Attempt, paint: words.Paint, most: int) -> None:
    """Put how the checks of an iteration went, and what those printed that did not pass."""
    for check in attempt.checks:
        say(f"iteration {attempt.iteration} · {words.check(check, paint)}")
        for line in words.check_output(check, paint, most=most):
            put(sys.stdout, line)


def put_table(state: LoopState) -> None:
    """Put the table of the runs."""
    paint = look_of(sys.stdout, os.environ).paint()

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        is_status = column == words.HEAD.index("STATUS")
        return words.status(state.attempts[row].report.status, paint) if is_status else text

    for line in _laid_out(words.HEAD, [words.row(each) for each in state.attempts], painted):
        put(sys.stdout, line)


def _laid_out(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Callable[[int, int, str], str] = lambda row, column, text: text,
) -> list[str]:
    """Rows in columns, cut to the width of a terminal."""
    watched = look_of(sys.stdout, os.environ).terminal
    return table(head, rows, width=columns(sys.stdout) if watched else _UNCUT, paint=paint)


def say(line: str) -> None:
    """Put a line of ours."""
    put(sys.stdout, f"{look_of(sys.stdout, os.environ).paint()('prefix', '[rook]')} {line}")
