"""`rook replay`: a finished run on the screen, at its own pace."""

import math
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType

import click

from nightrook.cli.options.defaults import print_project_settings
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.terminal.ending import print_answer, say_end
from nightrook.cli.terminal.interrupts import ended_by_signals
from nightrook.cli.terminal.output import FRAME_S, guarded
from nightrook.cli.terminal.raw_text import RawOutput, last_words, shown_text
from nightrook.cli.terminal.story_display import display_of, show_record
from nightrook.config.command_options import ReplayOptions
from nightrook.config.options import Format, ViewOptions
from nightrook.display.console import look_of
from nightrook.model.records import dump
from nightrook.model.redaction.deltas import UnsplitSecrets
from nightrook.runs.listing import running_run
from nightrook.store.home import home_folder
from nightrook.store.list import chosen_run
from nightrook.store.run_folder import RunFolder
from nightrook.story.feed import iterate
from nightrook.story.story import Story, open_story
from nightrook.story.tail import pieces

_EXAMPLES = """\b
Examples:
  rook replay k7f3 --speed 10
  rook replay k7f3 --instant --format jsonl
"""


_LONGEST_PAUSE_S = 5.0  # waiting agents are not worth watching


class Pace:
    """Waits between two moments of a recording, at a multiple of its speed."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._reached: float | None = None  # the last moment that was waited for
        self._is_stopped = False

    def wait(self, at: float | None, tick: Callable[[float], None] = lambda _now: None) -> None:
        """Wait until this moment of the recording, and call `tick` with the time until then."""
        self._end_if_stopped()
        if at is None:
            return
        now, self._reached = self._reached, at
        if now is None:
            tick(at)
            return
        rest = min(max(0.0, at - now) / self._speed, _LONGEST_PAUSE_S)
        while rest > 0:
            step = min(rest, FRAME_S)
            tick(now)
            time.sleep(step)
            self._end_if_stopped()
            now, rest = now + step * self._speed, rest - step

    def ended_by_signals(self) -> AbstractContextManager[None]:
        """End the block on SIGTERM and SIGHUP as on Ctrl-C, so that nothing is left on a screen."""
        return ended_by_signals(self._stop)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # Python drops what is raised while an object is deleted: then `wait` raises it.
        self._is_stopped = True  # guards: dropped-signal
        raise KeyboardInterrupt

    def _end_if_stopped(self) -> None:
        if self._is_stopped:
            raise KeyboardInterrupt


@click.command("replay", epilog=_EXAMPLES)
@takes("replay", ReplayOptions, ViewOptions)
@argument("run", required=False, completes="runs")
def command(options: ReplayOptions, view_options: ViewOptions, run: str | None) -> None:
    """Replay a finished run on the screen, at the pace at which it happened or faster."""
    print_project_settings()
    folder = chosen_run(home_folder(), run)
    pace = Pace(math.inf if options.instant else options.speed)
    with pace.ended_by_signals():
        if view_options.format == "text":
            _replay(folder, view_options, pace)
        else:
            _write_output(folder, view_options.format, pace)


def _replay(folder: RunFolder, view_options: ViewOptions, pace: Pace) -> None:
    story = _story(folder)
    feed, decisions = story.feed, story.decisions()
    with display_of(story, view_options) as display:
        for line in iterate(feed.lines("stdout")):
            display.put([shown_text(line)])
        for record in iterate(feed.since(0)):
            pace.wait(record.at, display.tick)
            show_record(display, record, decisions)
            sys.stdout.flush()
        paint = look_of(sys.stdout, os.environ).paint()
        display.put(list(last_words(story, paint)))
    print_answer(sys.stdout, view_options, feed.state, display.texts)
    say_end(story)


def _write_output(folder: RunFolder, form: Format, pace: Pace) -> None:
    """Write a run's records as JSON lines, or its bytes, at the pace at which they came."""
    if form == "raw":
        raw = RawOutput(sys.stdout)
        for data, at in pieces(folder.path):
            pace.wait(at)
            raw.write(data)
        raw.close()
        return
    secrets, out = UnsplitSecrets(os.environ), guarded(sys.stdout)
    for record in iterate(_story(folder).feed.since(0)):
        pace.wait(record.at)
        out.write_json(dump(secrets.unsplit(record)) + b"\n")  # guards: replayed-deltas-whole


def _story(folder: RunFolder) -> Story:
    return open_story(folder, is_running=running_run(folder) is not None)
