"""`rook stop`: ends a run or a loop."""

import click

from rookery.cli.options.parameters import argument
from rookery.cli.options.run_argument import find_run
from rookery.runs.heal import ask_to_stop


@click.command("stop", epilog="\b\nExamples:\n  rook stop k7f3\n  rook stop loop-k7")
@argument("run", completes="running")
def stop(run: str) -> None:
    """Stop a run or a loop: ask its agent to end, and kill it if it does not.

    The beginning of a name is enough. To see how it ends, use rook attach RUN --stop.
    """
    if run.startswith("loop-"):
        from rookery.cli.commands.loops import stop_loop  # rarely needed, and it imports a lot

        stop_loop(run)
        return
    folder = find_run(run)
    ask_to_stop(folder)
    click.echo(f"[rook] asked run {folder.name} to stop", err=True)
