"""The folder of a fleet on the command line: made, and changed with its workers."""

import shlex
from pathlib import Path

import click

from nightrook.agents import NAMES
from nightrook.cli.terminal.output import say
from nightrook.config.fleet_options import FleetOptions
from nightrook.fleet.accounts import folder
from nightrook.fleet.accounts.credentials import check_installed
from nightrook.fleet.accounts.folder import CREDENTIALS, Listening
from nightrook.fleet.accounts.server_file import PID_FILE, SERVER_FILE
from nightrook.fleet.subjects import ANY
from nightrook.model.safe import safe_line


def init(path: Path, options: FleetOptions) -> None:
    """Make the folder of a fleet, and print the next steps."""
    check_installed()
    listening = Listening(options.listen, options.port, options.address or options.listen)
    fleet = folder.create(path, listening)
    place = path.absolute()
    lines = [
        f"made {place} for a server at {fleet.url}",
        f"start the server:  nats-server -c {_quoted(place / SERVER_FILE)}",
        f"add a machine:     rook fleet add-worker NAME --folder {_quoted(place)}",
        f"your credentials:  {place / CREDENTIALS / 'boss.json'}  (runs jobs, spends money)",
        f"to look only:      {place / CREDENTIALS / 'viewer.json'}",
    ]
    for line in lines:
        click.echo(safe_line(line))


def add(path: Path, name: str, options: FleetOptions) -> None:
    """Add a worker, and print how to start it."""
    check_installed()
    labels = dict.fromkeys((ANY, *options.label))
    agents = options.agent or NAMES
    file, is_known = folder.add_worker(path, name, labels=tuple(labels), agents=tuple(agents))
    click.echo(safe_line(str(file)))
    if not is_known:
        _say_reload(path)
    say(f"copy it to {name}, as a file that only its user can read, and delete it here; there:")
    say(
        "rook worker --credentials fd:3 3< FILE    (rook worker --check shows what agents can read)"
    )


def remove(path: Path, name: str) -> None:
    """Remove a worker."""
    check_installed()
    is_ended = folder.remove_worker(path, name)
    click.echo(safe_line(f"{name} is no longer in the fleet"))
    if not is_ended:
        _say_reload(path)


def _say_reload(path: Path) -> None:
    pid = path.absolute() / PID_FILE
    say(
        "no server of this fleet runs on this machine: copy server.conf to it, and there, twice:  "
        f"nats-server --signal reload={_quoted(pid)}"
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
