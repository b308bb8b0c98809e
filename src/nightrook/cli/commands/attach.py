"""`rook attach`: follows a run, a loop or a batch that another process runs."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

import click

from nightrook.batches.listing import batch_row, read_batch
from nightrook.cli.options.defaults import print_project_settings
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.view_options import hold_messages
from nightrook.cli.terminal.attached_run import follow, report_log, show_attached
from nightrook.cli.terminal.ending import print_end, print_result
from nightrook.cli.terminal.foreground import command_line
from nightrook.config.command_options import AttachOptions
from nightrook.config.options import ViewOptions
from nightrook.config.user_settings import fleet_credentials
from nightrook.display.console import columns, look_of
from nightrook.display.event_lines import ShownTexts
from nightrook.display.numbers import moment
from nightrook.display.table import table
from nightrook.loops.storage import LOOP_FOLDERS, loop_row
from nightrook.model.errors import NightrookError, UnknownRunError
from nightrook.model.text import one_line
from nightrook.runs.attached import AttachedRun, ask_to_stop
from nightrook.runs.listing import running_runs
from nightrook.store.batch_folder import BatchFolder
from nightrook.store.folders import BATCHES
from nightrook.store.home import home_folder
from nightrook.store.list import Row, chosen_run
from nightrook.store.names import kind_of
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo

_EXAMPLES = """\b
Examples:
  rook attach                      what is running, or asks which
  rook attach k7f3 --from-now      only what happens from now on
  rook attach k7f3 -q > answer.md  wait for its answer
  rook attach k7f3 --stop          stop it, and see how it ends
  rook attach loop-k7f3            each iteration, then the table of its runs
  rook attach batch-k7f3           each result, then the table of its tasks
"""
_HEAD = ("", "NAME", "STARTED", "WHAT")
_LONGEST = 200
_PLURALS = {"run": "runs", "loop": "loops", "batch": "batches"}


@click.command("attach", epilog=_EXAMPLES)
@takes("attach", AttachOptions, ViewOptions)
@argument("run", required=False, completes="stored")
def command(options: AttachOptions, view_options: ViewOptions, run: str | None) -> None:
    """Show a run, a loop or a batch that another process started, from its start to its end.

    Without a name it shows what is running, or asks if there is more than one; if nothing is
    running, the last run.

    Any number of terminals can attach to a run at once; the agent does not notice. Ctrl-C detaches
    and the run continues. The exit code is that of the run (see rook run --help), or 130 if you
    detach before the run has ended.
    """
    raise click.exceptions.Exit(_attach(run, options, view_options))


def _attach(name: str | None, options: AttachOptions, view_options: ViewOptions) -> int:
    if name is None:
        name = running_name()
    kind = "run" if name is None else kind_of(name)
    if kind == "loop":
        from nightrook.cli.terminal.attached_loop import attach_loop

        return attach_loop(name or "", options, view_options)
    if kind == "batch":
        from nightrook.cli.terminal.attached_batch import attach_batch

        return attach_batch(name or "", options, view_options)
    return _attach_run(name, options, view_options)


def _attach_run(name: str | None, options: AttachOptions, view_options: ViewOptions) -> int:
    """Show a run to its end; return its exit code."""
    attached = AttachedRun(_found(name))
    hold_messages(view_options)
    print_project_settings()
    following = _follow(attached, view_options, from_now=options.from_now)
    if attached.info.fleet is not None:
        from nightrook.cli.fleet_runs import kept_up  # an extra

        following = kept_up(attached, following, stop=options.stop)
    elif options.stop:
        obstacle = ask_to_stop(attached.folder)
        if obstacle is not None:
            click.echo(f"[rook] {obstacle}", err=True)
    verdict, texts = follow(following, what="run", name=attached.folder.name)
    print_result(sys.stdout, view_options, attached.story, texts)
    print_end(view_options, attached.story)
    report_log(attached.folder.path)
    return verdict.exit_code


def _found(name: str | None) -> RunFolder:
    """The run of that name here, or on the user's fleet."""
    try:
        return chosen_run(home_folder(), name)
    except UnknownRunError:
        if name is None or fleet_credentials() is None:
            raise
    from nightrook.cli.fleet_runs import adopted  # an extra

    return adopted(name)


async def _follow(
    attached: AttachedRun, view_options: ViewOptions, *, from_now: bool
) -> tuple[VerdictInfo, ShownTexts | None]:
    is_terminal = look_of(sys.stdout, os.environ).terminal
    shows_command = view_options.lively and (view_options.verbose or not is_terminal)
    if attached.info.command and shows_command:
        click.echo(f"[rook] Agent command: {command_line(attached.info.command)}")
    return await show_attached(attached, view_options, from_now=from_now)


def running_name() -> str | None:
    """Return the name of the running run, loop or batch; ask at a terminal if there are several.

    None if nothing is running.
    """
    running = list_running()
    if len(running) < 2:
        return running[0].name if running else None
    return _asked(running).name


def list_running() -> list[Row]:
    """List running runs, loops and batches, newest first, without parts of a running one."""
    whole = [*_batches(), *_loops()]
    names = {each.name for each in whole}
    whole += running_runs(without=names)
    whole.sort(key=lambda each: -(each.started_at or time.time()))
    return [each for each in whole if each.part_of not in names]


def _batches() -> Iterator[Row]:
    for path in BATCHES.paths(home_folder()):
        folder = BatchFolder(path)
        with suppress(NightrookError):  # it is damaged, or was removed meanwhile
            if folder.is_running:
                yield batch_row(read_batch(folder))


def _loops() -> Iterator[Row]:
    for folder in LOOP_FOLDERS.all(home_folder()):
        with suppress(NightrookError):
            if folder.is_running:
                yield loop_row(folder)


def _asked(running: Sequence[Row]) -> Row:
    """Ask the user for one of them, by its number."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        names = ", ".join(each.name for each in running)
        raise NightrookError(f"{_counted(running)} are running: name one of {names}")
    now = time.time()
    rows = [
        (str(number), each.name, moment(each.started_at, now), one_line(each.what, _LONGEST))
        for number, each in enumerate(running, 1)
    ]
    paint = look_of(sys.stderr, os.environ).paint()
    for line in table(_HEAD, rows, width=columns(sys.stderr), paint=paint):
        click.echo(line, err=True)
    choice = click.IntRange(1, len(running))
    number: int = click.prompt("Which one?", type=choice, default=1, err=True)
    return running[number - 1]


def _counted(running: Sequence[Row]) -> str:
    """The number of each kind: `2 runs and 1 loop`."""
    numbers = Counter[str](each.kind for each in running)
    *most, last = (
        f"{numbers[kind]} {kind if numbers[kind] == 1 else plural}"
        for kind, plural in _PLURALS.items()
        if numbers[kind]
    )
    return f"{', '.join(most)} and {last}" if most else last
