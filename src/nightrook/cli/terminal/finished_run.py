"""A finished run: its display, and how it ended."""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import partial

import click
import msgspec

from nightrook.cli.options.view_options import display_on, reports_starts
from nightrook.config.options import ViewOptions
from nightrook.display.about_run import about_run
from nightrook.display.console import Paint, look_of
from nightrook.display.decisions import decided
from nightrook.display.ending import Shown, summary
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.display.terminal import Display
from nightrook.model.records import Record
from nightrook.model.text import from_home
from nightrook.store.decisions import Decided, denied_by_person
from nightrook.store.file_names import OUTPUT
from nightrook.story.story import Story


def display_of(story: Story, view_options: ViewOptions) -> Display:
    """The display for a finished run on standard output."""
    folder, info = story.folder, story.info
    return display_on(
        sys.stdout,
        (info.label if info else None) or "agent",
        view_options,
        context=RunContext(
            run=story.name,
            cwd=story.state.cwd,
            reports_starts=reports_starts(info.agent if info else None),
            snapshot=story.snapshot,
            denied_by_person=partial(denied_by_person, folder) if folder else frozenset,
        ),
    )


def show_record(display: Display, record: Record, decisions: Mapping[str, Decided]) -> None:
    """Write the lines of a record, and what the user decided on it; what ran, to stderr."""
    if isinstance(display, PlainDisplay) and (head := display.head(record)):
        sys.stdout.flush()
        click.echo(head, err=True)
    display.show(record)
    display.say(*decided(record, decisions))


def say_end(story: Story, *, shown: Shown = "nothing") -> None:
    """Print how the run ended to stderr."""
    paint = look_of(sys.stderr, os.environ).paint()
    for line in ending_lines(story, paint, shown=shown):
        click.echo(line, err=True)


def ending_lines(
    story: Story, paint: Paint, *, shown: Shown, home: str | None = None
) -> Iterator[str]:
    """The last lines about a run: its end, the next step, and the file of its answer.

    `shown` is how much of the run is above these lines.
    """
    ending, folder = story.ending, story.folder
    prefix = paint("prefix", "[rook]")
    if ending is None:
        yield f"{prefix} run {story.name} is running"
        return
    about = msgspec.structs.replace(about_run(story, ending), shown=shown)
    yield from summary(ending, about, story.state, paint)
    if folder is not None and folder.has_output:
        yield f"{prefix} answer: {from_home(str(folder.path / OUTPUT), home)}"
