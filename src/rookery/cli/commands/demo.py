"""`rook demo`: a minute of a lively session, played by a scripted agent inside the package."""

import os
import tempfile

import click

from rookery.cli.demo_player import player_command
from rookery.cli.live.run_view import watch
from rookery.cli.options.view_options import Manner, verbose_option
from rookery.config.options import RunOptions
from rookery.runs.start import start

_DENIED = 4  # the demo shows a denial: for a demo that is a success


@click.command("demo", epilog="Examples:\n  rook demo\n  rook demo --speed 10")
@click.option("--speed", type=float, default=1.0, show_default=True, help="How many times as fast.")
@verbose_option
def command(speed: float, verbose: bool) -> None:
    """See a run as it would look: tools, a subagent, an error, a denial, a retry and a cost.

    Nothing is asked of any model and nothing in your folder is touched. The run is kept: try
    `rook show` and `rook replay` afterwards. It ends as denied, for which `rook run` exits with 4;
    the demo exits with 0, for that is how it should end.
    """
    if speed <= 0:
        raise click.UsageError("--speed must be more than 0")
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(
            agent="claude",
            prompt="Fix the failing tests in config",
            cwd=os.path.realpath(folder),
            program=player_command(),
            env={"ROOKERY_SCRIPT": f"speed={speed:g}"},
        )
        code = watch(start(options), Manner(verbose=verbose))
    raise click.exceptions.Exit(0 if code == _DENIED else code)
