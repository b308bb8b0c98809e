"""`rook attach`: follows a run that another process started."""

import os
import shlex
import sys

import click

from rookery.cli.live.ending import EndedRun, print_end, print_result
from rookery.cli.live.output import put
from rookery.cli.live.playback import ended_by_signals
from rookery.cli.live.stream_view import View
from rookery.cli.options.parameters import argument, takes
from rookery.cli.options.run_argument import find_run
from rookery.config.options import AttachOptions, ViewOptions
from rookery.display.console.look import look_of
from rookery.model.safe import safe_line
from rookery.runs.follow import Follower
from rookery.runs.heal import ask_to_stop
from rookery.store.file_names import RUNNER_LOG

_INTERRUPTED = 130


_EXAMPLES = """\b
Examples:
  rook attach                        the run that was begun last
  rook attach k7f3 --from-now        only what it does from now on
  rook attach k7f3 -q > answer.md    wait for its answer
  rook attach k7f3 --stop            stop it, and see how it ends
"""


@click.command("attach", epilog=_EXAMPLES)
@takes("attach", AttachOptions, ViewOptions)
@argument("run", required=False, completes="runs")
def attach(options: AttachOptions, view_options: ViewOptions, run: str | None) -> None:
    """Show a run that another process started, from its start to its end.

    Any number of terminals can attach to a run at once; the agent does not notice. Ctrl-C detaches
    and the run continues. The exit code is that of the run (see rook run --help), or 130 if you
    detach before the run has ended.
    """
    with Follower(find_run(run)) as follower:
        if options.stop:
            ask_to_stop(follower.folder)
        _follow(follower, view_options, from_now=options.from_now)
    verdict = follower.verdict
    assert verdict is not None
    ended = EndedRun(verdict.verdict, follower.state, follower.agent, follower.folder)
    print_result(sys.stdout, view_options, ended)
    print_end(view_options, ended)
    _tell_complaints(follower)
    raise click.exceptions.Exit(verdict.exit_code)


def _follow(follower: Follower, view_options: ViewOptions, *, from_now: bool) -> None:
    watched = look_of(sys.stdout, os.environ).terminal
    if follower.info.command and view_options.lively and (view_options.verbose or not watched):
        click.echo(f"[rook] Agent command: {safe_line(shlex.join(follower.info.command))}")
    view = View(sys.stdout, view_options, follower, began=follower.info.started_at)
    try:
        with ended_by_signals(), view:
            if from_now:
                for told in follower.past():
                    view.learn(told)
            for told in follower.news():
                view.show(told)
                if view.muted:
                    raise BrokenPipeError  # there is nothing to do here but to show
    except KeyboardInterrupt:
        name = follower.folder.name
        put(sys.stderr, f"[rook] run {name} goes on: rook attach {name} · rook stop {name}")
        raise click.exceptions.Exit(_INTERRUPTED) from None


def _tell_complaints(follower: Follower) -> None:
    """Point to what a background runner complained of, if it did."""
    log = follower.folder.path / RUNNER_LOG
    if log.exists() and log.stat().st_size:
        click.echo(f"[rook] its runner complained: {log}", err=True)
