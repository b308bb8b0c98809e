"""`rook show`: the actions of a run and its end."""

import os
import sys
import time

import click

from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.terminal.ending import print_answer, say_end
from nightrook.cli.terminal.raw_text import last_words, shown_text
from nightrook.cli.terminal.story_display import display_of, show_record
from nightrook.config.command_options import ShowOptions
from nightrook.config.options import ViewOptions
from nightrook.display.console import look_of
from nightrook.model.safe import safe_line
from nightrook.runs.crash_recovery import recovered
from nightrook.runs.listing import running_run
from nightrook.store.home import home_folder
from nightrook.store.list import (
    Row,
    SessionName,
    Stored,
    chosen_run,
    find_shown,
    refuse_other_kinds,
)
from nightrook.story.feed import iterate
from nightrook.story.story import Story, open_story

_EXAMPLES = """\b
Examples:
  rook show
  rook show k7f3 --full
  rook show k7f3 | grep ERROR
  rook show k7f3 --html run.html    one file to keep or to send
  rook show k7f3 --md > run.md
  rook show 5a035b45                a session that rook search has found
  rook show 5a035b45 --json | jq '.turns[].cost_usd'
"""


@click.command("show", epilog=_EXAMPLES)
@takes("show", ShowOptions, ViewOptions)
@argument("run", required=False, completes="shown")
def command(options: ShowOptions, view_options: ViewOptions, run: str | None) -> None:
    """Show what a run, a loop, a batch or a stored session did; without a name, the last run.

    A stored session is named by the beginning of its id, which `rook search` and `rook runs
    --sessions` show; each turn is shown with its tokens and its cost.

    On a terminal the page opens in your pager ($PAGER, otherwise less). In a pipe the lines of the
    run are printed; with --full the page, without colours. A run that is still running is shown as
    far as it has come.
    """
    look = look_of(sys.stdout, os.environ)
    is_document = options.html is not None or options.md or options.json
    if is_document and run is not None:
        refuse_other_kinds(run)
    match None if run is None else find_shown(home_folder(), run):
        case SessionName(id):
            from nightrook.cli.show_session import show_session  # it imports a lot

            show_session(id, options, look, verbose=view_options.verbose)
            return
        case Stored("loop", path):
            from nightrook.cli.terminal.loop_view import show_loop  # rarely needed, imports a lot

            show_loop(path, full=options.full)
            return
        case Stored("batch", path):
            from nightrook.cli.terminal.batch_view import show_batch  # it imports a lot, too

            show_batch(path)
            return
    folder = recovered(chosen_run(home_folder(), run))
    live = running_run(folder)
    story = open_story(folder, is_running=live is not None)
    if is_document or look.terminal or options.full:
        from nightrook.cli.show_story import RunPage  # a pipe needs none of it

        RunPage(story, live).show(options, look, verbose=view_options.verbose)
    else:
        _show_lines(story, live, view_options)


def _show_lines(story: Story, live: Row | None, view_options: ViewOptions) -> None:
    feed, made = story.feed, story.decisions()
    if live is not None:
        from nightrook.cli.show_story import how_to_follow, open_calls, progress

        _print_to_stderr(progress(live))
    with display_of(story, view_options) as display:
        for line in iterate(feed.lines("stdout")):
            display.put([shown_text(line)])
        for record in iterate(feed.since(0)):
            show_record(display, record, made)
        paint = look_of(sys.stdout, os.environ).paint()
        display.put(list(last_words(story, paint)))
    print_answer(sys.stdout, view_options, feed.state, display.texts)
    if live is None:
        say_end(story, shown="lines")
    else:
        _print_to_stderr(*open_calls(feed.snapshot(), time.time()), how_to_follow(live))


def _print_to_stderr(*lines: str) -> None:
    for line in lines:
        click.echo(f"[rook] {safe_line(line)}", err=True)
