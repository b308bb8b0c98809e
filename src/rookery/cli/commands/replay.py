"""`rook replay`: a finished run again, as it happened."""

import math
import os
import sys
from collections.abc import Iterator

import click

from rookery.cli.live.finished_run import display_of, pieces_of, records_of, say_end
from rookery.cli.live.playback import Pace, ended_by_signals
from rookery.cli.live.raw_text import last_words, raw_lines
from rookery.cli.options.parameters import argument, takes
from rookery.cli.options.run_argument import find_run
from rookery.config.options import Format, ReplayOptions, ViewOptions
from rookery.display.asking import decided
from rookery.display.console.look import look_of
from rookery.model.fold import Fold
from rookery.model.records import dump
from rookery.model.safe import safe
from rookery.prices import PriceBook
from rookery.store import decisions
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import beginning_of

_EXAMPLES = """\b
Examples:
  rook replay k7f3 --speed 10
  rook replay k7f3 --instant --format jsonl
"""


@click.command("replay", epilog=_EXAMPLES)
@takes("replay", ReplayOptions, ViewOptions)
@argument("run", required=False, completes="runs")
def replay(options: ReplayOptions, view_options: ViewOptions, run: str | None) -> None:
    """Show a finished run again, as it happened."""
    look = look_of(sys.stdout, os.environ)
    with ended_by_signals():
        folder = find_run(run)
        pace = Pace(math.inf if options.instant else options.speed)
        if view_options.format != "text":
            for data in _passed_on(folder, view_options.format, pace):
                sys.stdout.buffer.write(safe(data.decode()).encode() if look.terminal else data)
                sys.stdout.buffer.flush()
            return
        fold = Fold(records_of(folder), PriceBook(), beginning_of(folder.info()))
        with display_of(folder, fold.state, view_options) as display:
            display.put(list(raw_lines(folder)))
            made = decisions.read(folder)
            for record in fold:
                pace.wait(record.at, display.tick)
                display.show(record)
                display.say(*decided(record, made))
                sys.stdout.flush()
            display.put(list(last_words(folder, fold.state, look.paint())))
        say_end(folder, fold.state)


def _passed_on(folder: RunFolder, form: Format, pace: Pace) -> Iterator[bytes]:
    """A run's records as JSON lines, or its bytes, at the pace at which they came."""
    if form == "jsonl":
        for record in records_of(folder):
            pace.wait(record.at)
            yield dump(record) + b"\n"
        return
    for data, at in pieces_of(folder):
        pace.wait(at)
        yield data
