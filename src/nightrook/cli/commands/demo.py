"""`rook demo`: a minute of a lively session, played by a scripted agent inside the package."""

import os
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click

from nightrook.cli.end_actions import EndActions
from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.foreground import watch
from nightrook.config.command_options import DemoOptions, ReplayOptions
from nightrook.config.options import EndOptions, RunOptions, ViewOptions
from nightrook.model.safe import safe_line
from nightrook.process.demo_player import player_command
from nightrook.runs.start import start

_DENIED = 4  # the demo shows a denial: for a demo that is a success


@click.command(
    "demo", epilog="Examples:\n  rook demo\n  rook demo --speed 10\n  rook demo --history"
)
@takes("demo", DemoOptions, ReplayOptions, ViewOptions)
def command(demo: DemoOptions, playing: ReplayOptions, view_options: ViewOptions) -> None:
    """Show what a run looks like: tools, a subagent, an error, a denial, a retry and a cost.

    No model is called and nothing in your folder is changed. The run is recorded: try `rook show`
    and `rook replay` afterwards. It ends as denied, for which `rook run` would exit with 4; the
    demo exits with 0.

    With --history it makes a home instead, in a temporary folder, and prints the command that
    reports what its sessions cost. Your own sessions are not read.
    """
    if demo.history:
        _make_history()
        return
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(
            agent="claude",
            prompt="Fix the failing tests in config",
            cwd=os.path.realpath(folder),
            program=player_command(),
            env={"ROOK_SCRIPT": f"speed={playing.speed:g}"},
        )
        ends = EndActions(EndOptions(no_ci=True, no_desktop=True), lively=False)
        code = watch(start(options), view_options, ends)
    hint = path_hint(sys.argv[0])
    if hint is not None:
        click.echo(f"[rook] {safe_line(hint)}", err=True)
    raise click.exceptions.Exit(0 if code == _DENIED else code)


def _make_history() -> None:
    """Write a month of made-up sessions, and say how to report on them."""
    from nightrook.testing.histories import month_of_work, write  # only for this

    home = Path(tempfile.mkdtemp(prefix="rook-history-"))
    sessions = list(month_of_work(until=time.time()))
    for session in sessions:
        write(home, session)
    click.echo(f"{len(sessions)} made-up sessions of five agents are in {home}")
    click.echo("Report what they cost, with nothing of your own:")
    rook = shlex.quote(sys.argv[0] if shutil.which("rook") is None else "rook")
    click.echo(f'  env -i PATH="$PATH" HOME={shlex.quote(str(home))} {rook} cost --by day,agent')


def path_hint(program: str) -> str | None:
    """The command that puts `rook` on PATH in this shell; None if it is there."""
    path = Path(program).absolute()
    if path.name != "rook" or shutil.which("rook") is not None:
        return None
    return f'to have rook on PATH: export PATH={shlex.quote(str(path.parent))}:"$PATH"'
