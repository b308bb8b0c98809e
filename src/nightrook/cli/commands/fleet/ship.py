"""`rook fleet ship`: sends a run of this machine that has ended to a fleet."""

import asyncio

from nightrook.cli.terminal.output import say
from nightrook.fleet.accounts.credentials import chosen_fleet
from nightrook.fleet.ship_run import ship_again
from nightrook.store.home import home_folder
from nightrook.store.list import find_run


def ship(credentials: str | None, name: str) -> None:
    """Send a run of this machine that has ended to a fleet."""
    address, _ = chosen_fleet(credentials)
    folder = find_run(home_folder(), name)
    asyncio.run(ship_again(folder, address))
    say(f"run {folder.name} was sent")
