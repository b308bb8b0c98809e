"""`rook fleet drain`: a machine finishes its current jobs, and takes no more."""

import asyncio

from nightrook.cli.terminal.output import say
from nightrook.fleet import subjects
from nightrook.fleet.accounts.credentials import chosen_fleet
from nightrook.fleet.boss.fleet_run import opened_fleet
from nightrook.fleet.messages import DrainOrder, dump
from nightrook.store.home import home_folder


def drain(credentials: str | None, worker: str) -> None:
    """Let a worker finish what it runs, and take no more jobs."""
    address, _ = chosen_fleet(credentials)

    async def work() -> None:
        async with opened_fleet(address, home_folder()) as fleet:
            subject = subjects.order(worker, subjects.WHOLE_WORKER)
            await fleet.connection.publish(subject, dump(DrainOrder()))

    asyncio.run(work())
    say(f"asked {worker} to finish what it runs, and to take no more jobs")
