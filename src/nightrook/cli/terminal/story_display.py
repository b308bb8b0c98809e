"""The lines of a stored run, as its live display would have shown them."""

import sys
from collections.abc import Mapping
from functools import partial

import click

from nightrook.cli.options.view_options import display_on, reports_starts
from nightrook.config.options import ViewOptions
from nightrook.display.decisions import decided
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.display.terminal import Display
from nightrook.model.records import Record
from nightrook.store.decisions import Decided, denied_by_person
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
    """Write the lines of a record and of the user's decision; the head of a plain one to stderr."""
    if isinstance(display, PlainDisplay) and (head := display.head(record)):
        sys.stdout.flush()
        click.echo(head, err=True)
    display.show(record)
    display.say(*decided(record, decisions))
