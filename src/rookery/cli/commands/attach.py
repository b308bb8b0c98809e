"""`rook attach`: follows a run that another process started."""

import os
import shlex
import sys

import click

from rookery.cli.live.ending import EndedRun, print_end, print_result
from rookery.cli.live.output import put
from rookery.cli.live.playback import ended_by_signals
from rookery.cli.live.stream_view import View
from rookery.cli.options.run_argument import find_run
from rookery.cli.options.view_options import Manner, manner_of, manner_options
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
@click.option("--from-now", is_flag=True, help="Leave out what it did before.")
@click.option("--stop", "stopping", is_flag=True, help="Stop it, and show how it ends.")
@manner_options
@click.argument("run", required=False)
def attach(
    run: str | None,
    from_now: bool,
    stopping: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_text: bool,
) -> None:
    """Show a run that goes on elsewhere, from its start on, up to its end.

    Any number of terminals can do so at once, and the agent notices none of them. Ctrl-C leaves and
    the run goes on. The exit code is the run's own: see rook run --help; if you leave before its
    end it is 130, for 0 would say that the run is a success.
    """
    manner = manner_of(as_json=as_json, quiet=quiet, verbose=verbose, no_text=no_text)
    with Follower(find_run(run)) as follower:
        if stopping:
            ask_to_stop(follower.folder)
        _follow(follower, manner, from_now=from_now)
    verdict = follower.verdict
    assert verdict is not None
    ended = EndedRun(verdict.verdict, follower.state, follower.agent, follower.folder)
    print_result(sys.stdout, manner, ended)
    print_end(manner, ended)
    _tell_complaints(follower)
    raise click.exceptions.Exit(verdict.exit_code)


def _follow(follower: Follower, manner: Manner, *, from_now: bool) -> None:
    watched = look_of(sys.stdout, os.environ).terminal
    if follower.info.command and manner.lively and (manner.verbose or not watched):
        click.echo(f"[rook] Agent command: {safe_line(shlex.join(follower.info.command))}")
    view = View(sys.stdout, manner, follower, began=follower.info.started_at)
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
