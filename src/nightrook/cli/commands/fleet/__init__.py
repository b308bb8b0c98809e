"""`rook fleet`: makes a fleet, and adds and removes its machines."""

from pathlib import Path

import click

from nightrook.cli.commands.fleet import members
from nightrook.cli.options.parameters import argument, takes
from nightrook.config.fleet_options import FleetOptions

_EXAMPLES = """\b
Examples:
  rook fleet              the machines, and what each runs
  rook fleet demo
  rook fleet drain ada
  rook fleet ship k7f3    what rook run --sink could not send
  rook fleet init fleet
  rook fleet init fleet --listen 0.0.0.0 --address fleet.example.org
  rook fleet add-worker ada --folder fleet
  rook fleet add-worker gpu1 --folder fleet --label gpu --agent claude
  rook fleet remove-worker ada --folder fleet
"""
_ALONE = ("status", "demo")
_NEEDS = {"init": "FOLDER", "ship": "RUN"}
ACTIONS = ("status", "init", "add-worker", "remove-worker", "drain", "ship", "demo")


@click.command("fleet", epilog=_EXAMPLES)
@takes("fleet", FleetOptions)
@argument("action", type=click.Choice(ACTIONS), default="status")
@argument("name", metavar="[NAME|RUN|FOLDER]", required=False)
def command(options: FleetOptions, action: str, name: str | None) -> None:
    """Show the machines of a fleet and what each runs; make a fleet, add and remove machines.

    status, the default, also brings the runs here up to date whose boss was killed. drain lets a
    machine finish what runs and take no more jobs. ship sends a RUN of this machine that has ended,
    if rook run --sink could not. demo starts a fleet on this machine, with a
    scripted agent: no key, no network.

    init makes a FOLDER with the file of a NATS server, keys for a boss and for viewers, and, unless
    the server listens on this machine alone, certificates. add-worker makes a key for the machine
    NAME, which may then publish under its own name and pull jobs of its labels and agents;
    remove-worker ends its connections. A server that runs on this machine is told at once.
    """
    if action in _ALONE:
        if name is not None:
            raise click.UsageError(f"{action} takes no NAME")
        _show(action, options)
        return
    if name is None:
        raise click.UsageError(f"{action} needs a {_NEEDS.get(action, 'NAME')}")
    match action:
        case "drain":
            from nightrook.cli.commands.fleet.drain import drain  # an extra

            drain(options.credentials, name)
        case "ship":
            from nightrook.cli.commands.fleet.ship import ship  # an extra

            ship(options.credentials, name)
        case "init":
            members.init(Path(name), options)
        case "add-worker":
            members.add(Path(options.folder), name, options)
        case _:
            members.remove(Path(options.folder), name)


def _show(action: str, options: FleetOptions) -> None:
    if action == "demo":
        from nightrook.cli.commands.fleet.demo import demo  # rarely needed

        demo()
        return
    from nightrook.cli.commands.fleet.status import status  # an extra

    status(options.credentials, as_json=options.json)
