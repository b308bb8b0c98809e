"""`rook stop`: ends a run, a loop or a batch."""

import click

from nightrook.cli.options.parameters import argument
from nightrook.cli.options.run_argument import find_run
from nightrook.runs.heal import ask_to_stop
from nightrook.store import batch_folder
from nightrook.store.home import home_folder


@click.command(
    "stop", epilog="\b\nExamples:\n  rook stop k7f3\n  rook stop loop-k7\n  rook stop batch-k7"
)
@argument("run", completes="running")
def command(run: str) -> None:
    """Stop a run, a loop or a batch: ask its agents to end, and kill them if they do not.

    The beginning of a name is enough. To see how it ends, use rook attach RUN --stop.
    """
    if run.startswith("loop-"):
        from nightrook.cli.commands.loops import stop_loop  # rarely needed, and it imports a lot

        stop_loop(run)
        return
    if run.startswith("batch-"):
        batch = batch_folder.find(home_folder(), run)
        batch.request_stop()
        click.echo(f"[rook] asked batch {batch.name} to stop", err=True)
        return
    folder = find_run(run)
    info = folder.info()
    if info is not None and info.fleet is not None:
        from nightrook.cli.fleet_runs import stop_on_fleet  # an extra

        how = "stopped" if stop_on_fleet(folder) else "asked its machine to stop"
        click.echo(f"[rook] {how} run {folder.name}", err=True)
        return
    ask_to_stop(folder)
    click.echo(f"[rook] asked run {folder.name} to stop", err=True)
