"""`rook show`: what a run did and how it ended."""

import os
import shlex
import sys
import time
from collections.abc import Iterator
from functools import partial

import click

from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.terminal.ending import print_answer
from nightrook.cli.terminal.finished_run import display_of, ending_lines, say_end, show_record
from nightrook.cli.terminal.output import guarded
from nightrook.cli.terminal.pager import paged
from nightrook.cli.terminal.raw_text import last_words, shown_text
from nightrook.config.command_options import ShowOptions
from nightrook.config.options import ViewOptions
from nightrook.display import event_lines
from nightrook.display.console import Look, columns, look_of
from nightrook.display.ending import Shown
from nightrook.display.event_lines import RunContext
from nightrook.display.numbers import price
from nightrook.display.page import Heading, Page, PageOptions
from nightrook.display.spending import spending_lines, subagent_titles
from nightrook.model.answer import final_text
from nightrook.model.durations import duration
from nightrook.model.safe import safe_line
from nightrook.model.snapshot import Snapshot
from nightrook.model.text import suggested
from nightrook.runs.crash_recovery import recovered
from nightrook.runs.listing import running_run
from nightrook.store import decisions
from nightrook.store.home import home_folder
from nightrook.store.list import (
    Row,
    SessionName,
    Stored,
    chosen_run,
    find_shown,
    refuse_other_kinds,
)
from nightrook.store.run_folder import RunFolder
from nightrook.story.feed import iterate
from nightrook.story.story import open_story

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


_WIDEST_PAGE = 100


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
    full, verbose = options.full, view_options.verbose
    look = look_of(sys.stdout, os.environ)
    is_document = options.html is not None or options.md or options.json
    if is_document and run is not None:
        refuse_other_kinds(run)
    match None if run is None else find_shown(home_folder(), run):
        case SessionName(id):
            from nightrook.cli.show_session import show_session  # it imports a lot

            show_session(id, options, look, verbose=verbose)
            return
        case Stored("loop", path):
            from nightrook.cli.terminal.loop_view import show_loop  # rarely needed, imports a lot

            show_loop(path, full=full)
            return
        case Stored("batch", path):
            from nightrook.cli.terminal.batch_view import show_batch  # it imports a lot, too

            show_batch(path)
            return
    found = chosen_run(home_folder(), run)
    if is_document:
        from nightrook.cli.show_document import export  # rarely needed

        export(found, options)
        return
    folder = recovered(found)
    live = running_run(folder)
    if look.terminal and not options.no_pager:
        paged(_page(folder, live, look, verbose=verbose, full=full), os.environ)
    elif look.terminal or full:
        for line in _page(folder, live, look, verbose=verbose, full=full):
            click.echo(line)
    else:
        _show_lines(folder, live, view_options)


def _show_lines(folder: RunFolder, live: Row | None, view_options: ViewOptions) -> None:
    story = open_story(folder, is_running=live is not None)
    feed, made = story.feed, story.decisions()
    if live is not None:
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


def _page(
    folder: RunFolder, live: Row | None, look: Look, *, verbose: bool, full: bool
) -> Iterator[str]:
    """The lines of a run's page, drawn from its timeline."""
    info = folder.info()
    home, paint = os.path.expanduser("~"), look.paint()
    story = open_story(folder, is_running=live is not None)
    feed, timeline = story.feed, story.timeline
    page = Page(
        (info.label if info else None) or "raw",
        PageOptions(
            width=min(columns(sys.stdout), _WIDEST_PAGE),
            verbose=verbose and not full,
            full=full,
            home=home,
            now=time.time() if live else None,
        ),
        paint=paint,
        context=RunContext(
            cwd=feed.state.cwd,
            snapshot=feed.snapshot,
            redact=guarded(sys.stdout).redacted,
            denied_by_person=partial(decisions.denied_by_person, folder),
        ),
        read=story.body,
        replacements=story.replacements,
        decisions=story.decisions(),
    )
    yield from page.head(_heading(folder, live))
    yield from map(shown_text, iterate(feed.lines("stdout")))
    yield from page.lines(timeline.items)
    yield from last_words(story, paint, full=full)
    if live is None:
        # guards: page-answer-redacted
        answer = guarded(sys.stdout).redacted(final_text(feed.state) or "")
        yield from page.answer(None if full else answer)
        shown: Shown = "everything" if full else "lines"
        yield from ending_lines(story, paint, shown=shown, home=home)
    else:
        yield f"{paint('prefix', '[rook]')} {how_to_follow(live)}"
    for line in spending_lines(
        feed.state.ledger, subagent_titles(timeline.items), verbose=verbose or full
    ):
        yield f"{paint('prefix', '[rook]')} {line}"


def _heading(folder: RunFolder, live: Row | None) -> Heading:
    info = folder.info()
    if info is None:
        return Heading(run=folder.name)
    return Heading(
        run=folder.name,
        prompt=info.prompt,
        started_at=info.started_at,
        command=shlex.join(info.command),
        progress=progress(live) if live else None,
    )


def progress(run: Row) -> str:
    """How long a run has run and what it has cost: `running · 1m 30s · ~$0.01 so far`."""
    parts = ["running", duration(run.seconds)]
    if run.spent.usd is not None:
        parts.append(f"{price(run.spent)} so far")
    return " · ".join(parts)


def open_calls(snapshot: Snapshot, now: float) -> Iterator[str]:
    """Yield a line for each call that has not ended: `running: Bash: make test (12.0s)`."""
    for tool in snapshot.open_tools:
        call = event_lines.call(tool, tool.started_at, snapshot.cwd)
        took = event_lines.took(call, now)
        yield f"running: {call.words}" + (f" ({took})" if took else "")


def how_to_follow(run: Row) -> str:
    """The command that shows what comes next."""
    return f"follow it: {suggested('attach', run.name)}"
