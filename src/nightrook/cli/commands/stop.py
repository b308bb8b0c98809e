"""`rook stop`: ends a run, a loop or a batch."""

import click

from nightrook.cli.options.parameters import argument
from nightrook.runs.attached import ask_to_stop
from nightrook.store.folders import ProcessFolder
from nightrook.store.home import home_folder
from nightrook.store.list import find
from nightrook.store.run_folder import RunFolder


@click.command(
    "stop", epilog="\b\nExamples:\n  rook stop k7f3\n  rook stop loop-k7\n  rook stop batch-k7"
)
@argument("run", completes="running")
def command(run: str) -> None:
    """Stop a run, a loop or a batch: ask its agents to end, and kill them if they do not.

    The beginning of a name is enough. To see how it ends, use rook attach RUN --stop.
    """
    kind, path = find(home_folder(), run)
    if kind != "run":
        ProcessFolder(path, kind).request_stop()
        click.echo(f"[rook] asked {kind} {path.name} to stop", err=True)
        return
    folder = RunFolder(path)
    info = folder.info()
    if info is not None and info.fleet is not None:
        from nightrook.cli.fleet_runs import stop_on_fleet  # an extra

        how = "stopped" if stop_on_fleet(folder) else "asked its machine to stop"
        click.echo(f"[rook] {how} run {folder.name}", err=True)
        return
    obstacle = ask_to_stop(folder)
    click.echo(f"[rook] asked run {folder.name} to stop", err=True)
    if obstacle is not None:
        click.echo(f"[rook] {obstacle}", err=True)
