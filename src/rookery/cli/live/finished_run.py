"""A finished run read from its folder: its display, its records and its end."""

import os
import sys
from collections.abc import Iterator

import click

from rookery import agents
from rookery.cli.demo_player import is_played
from rookery.cli.live.ending import can_resume
from rookery.cli.options.view_options import (
    Manner,
    display_on,
    reports_starts,
)
from rookery.display.console.look import look_of
from rookery.display.console.paint import Paint
from rookery.display.context import RunContext
from rookery.display.ending import End, summary
from rookery.display.outputs import Display
from rookery.display.words import from_home
from rookery.feed.tail import Tail
from rookery.model.records import Record
from rookery.model.state import RunState
from rookery.store.output import has_output
from rookery.store.runs import RunFolder


def display_of(folder: RunFolder, state: RunState, manner: Manner) -> Display:
    """The display for a finished run on standard output."""
    info = folder.info()
    label = info.label if info else None
    return display_on(
        sys.stdout,
        label or "agent",
        manner,
        context=RunContext(
            run=folder.name,
            cwd=state.cwd,
            reports_starts=reports_starts(info.agent if info else None),
            snapshot=state.snapshot,
        ),
    )


def records_of(folder: RunFolder) -> Iterator[Record]:
    """The records of a run; a command that no adapter knows has none."""
    info = folder.info()
    if info is None or info.agent is None:
        return
    decoder = agents.decoder(info.agent)
    for data, at in pieces_of(folder):
        yield from decoder.feed(data, at)
    yield from decoder.close()


def pieces_of(folder: RunFolder) -> Iterator[tuple[bytes, float | None]]:
    """What the agent wrote to stdout, with the arrival times."""
    with Tail(folder.path, "stdout.raw", b"o") as tail:
        while pieces := tail.read():
            yield from pieces


def say_end(folder: RunFolder, state: RunState) -> None:
    """Print how the run ended to stderr."""
    for line in ending_lines(folder, state, look_of(sys.stderr, os.environ).paint()):
        click.echo(line, err=True)


def ending_lines(
    folder: RunFolder, state: RunState, paint: Paint, home: str | None = None
) -> Iterator[str]:
    """How a run ended, what to do next, and where its answer is."""
    verdict, info = folder.verdict(), folder.info()
    prefix = paint("prefix", "[rook]")
    if verdict is None:
        yield f"{prefix} run {folder.name} is going on"
        return
    ended = End(
        run=folder.name,
        status=verdict.status,
        sentence=verdict.sentence,
        seconds=verdict.ended_at - info.started_at if info else None,
        resumable=verdict.session is not None
        and not (info and is_played(info.program))
        and (info is None or can_resume(info.agent)),
    )
    yield from summary(ended, state, paint)
    if has_output(folder):
        yield f"{prefix} its answer: {from_home(str(folder.path / 'output.md'), home)}"
