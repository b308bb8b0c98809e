"""`rook watch`: every session and run on this machine, live."""

import os
import sys
import time

import click

from nightrook.archive.session_files import user_homes
from nightrook.archive.watch.file_changes import FileChanges
from nightrook.archive.watch.watch import Watch
from nightrook.archive.watch.watched import Row
from nightrook.cli.options.parameters import takes
from nightrook.cli.session_filter import check_agent, chosen_project
from nightrook.cli.terminal.output import is_gone
from nightrook.cli.terminal.playback import ended_by_signals
from nightrook.cli.terminal.watch_view import JsonWatchView, WatchView
from nightrook.config.archive.options import WatchOptions
from nightrook.display.console import look_of
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.runs.listing import is_below
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
    project = chosen_project(options.project)
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
    """Say what cannot be watched as it should be."""
    for why, folders in changes.polled_because.items():
        view.say(f"{count(folders, 'folder')} polled instead of watched: {why}")
    for folder, why in changes.problems.items():
        view.say(f"cannot watch {safe_line(folder)}: {why}")


def _is_in(row: Row, project: str) -> bool:
    """Whether a session or run is in a folder, which may be the last part of a path."""
    if row.project is None:
        return False
    return is_below(row.project, project) or row.project.endswith(f"/{project}")
