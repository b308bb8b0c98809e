"""`rook attach`: follows a run that another process started."""

import asyncio
import os
import signal
import sys

import click

from rookery.cli.live.ending import EndedRun, print_end, print_result
from rookery.cli.live.foreground import command_line
from rookery.cli.live.output import put
from rookery.cli.live.view import View
from rookery.cli.options.defaults import print_project_settings
from rookery.cli.options.parameters import argument, takes
from rookery.cli.options.run_argument import find_running
from rookery.cli.options.view_options import hold_messages
from rookery.config.command_options import AttachOptions
from rookery.config.options import ViewOptions
from rookery.display.console.look import look_of
from rookery.display.texts import ShownTexts
from rookery.feed.feed import START
from rookery.model.safe import safe_line
from rookery.model.text import suggested
from rookery.runs.attached import AttachedRun
from rookery.runs.heal import ask_to_stop
from rookery.store.file_names import RUNNER_LOG
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import VerdictInfo

_INTERRUPTED = 130


_EXAMPLES = """\b
Examples:
  rook attach                        the run that is running; it asks if several are
  rook attach k7f3 --from-now        only what happens from now on
  rook attach k7f3 -q > answer.md    wait for its answer
  rook attach k7f3 --stop            stop it, and see how it ends
"""


@click.command("attach", epilog=_EXAMPLES)
@takes("attach", AttachOptions, ViewOptions)
@argument("run", required=False, completes="runs")
def attach(options: AttachOptions, view_options: ViewOptions, run: str | None) -> None:
    """Show a run that another process started, from its start to its end.

    Without a name it shows the run that is running, or asks if there are several; if there is
    none, the last one.
    Any number of terminals can attach to a run at once; the agent does not notice. Ctrl-C detaches
    and the run continues. The exit code is that of the run (see rook run --help), or 130 if you
    detach before the run has ended.
    """
    attached = AttachedRun(find_running(run))
    hold_messages(view_options)
    print_project_settings()
    if options.stop:
        ask_to_stop(attached.folder)
    try:
        verdict, texts = asyncio.run(_follow(attached, view_options, from_now=options.from_now))
    except (KeyboardInterrupt, asyncio.CancelledError):
        name = attached.folder.name
        commands = f"{suggested('attach', name)} · {suggested('stop', name)}"
        put(sys.stderr, f"[rook] run {name} continues: {commands}")
        raise click.exceptions.Exit(_INTERRUPTED) from None
    ended = EndedRun(verdict.verdict, attached.feed.state, attached.feed.agent, attached.folder)
    print_result(sys.stdout, view_options, ended, texts)
    print_end(view_options, ended)
    _report_log(attached.folder)
    raise click.exceptions.Exit(verdict.exit_code)


async def _follow(
    attached: AttachedRun, view_options: ViewOptions, *, from_now: bool
) -> tuple[VerdictInfo, ShownTexts | None]:
    """Show the run to its end; BrokenPipeError if the output is gone before.

    Return the verdict, and the texts that were shown.
    """
    look = look_of(sys.stdout, os.environ)
    if (
        attached.info.command
        and view_options.lively
        and (view_options.verbose or not look.terminal)
    ):
        click.echo(f"[rook] Agent command: {command_line(attached.info.command)}")
    if from_now:
        await attached.read()
    view = View(
        sys.stdout,
        view_options,
        attached.feed,
        look=look,
        started_at=attached.info.started_at,
        run_name=lambda: attached.folder.name,
        start=attached.position if from_now else START,
    )
    following = asyncio.create_task(view.during(attached.follow()))
    for number in (signal.SIGTERM, signal.SIGHUP):  # SIGINT is asyncio's
        asyncio.get_running_loop().add_signal_handler(number, following.cancel)
    leaving = asyncio.create_task(view.until_muted())
    try:
        await asyncio.wait([following, leaving], return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            return await following, view.texts
        raise BrokenPipeError  # without an output there is nothing to do
    finally:
        leaving.cancel()
        following.cancel()
        await asyncio.wait([following])


def _report_log(folder: RunFolder) -> None:
    """Point to the errors of a background runner, if there are any."""
    log = folder.path / RUNNER_LOG
    if log.exists() and log.stat().st_size:
        click.echo(f"[rook] errors of its background runner: {safe_line(str(log))}", err=True)
