"""The boss of a soak, as a process that can be killed: `python -m tests.fleet.soak_boss …`.

Started again, it follows what the killed one left, and asks for the runs that are missing. It ends
when there are as many as wanted and all of them are settled.
"""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.boss.fleet_run import Fleet, opened_fleet
from nightrook.fleet.boss.folders import read_state
from nightrook.fleet.boss.replicator import Replicator
from nightrook.fleet.boss.submit import submit
from nightrook.fleet.connection import Address, FleetError
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder
from tests.fleet.fleets import job

LEASE_S = 6.0
BUDGET = "soak"
CEILING = 0.1


async def settled(fleet: Fleet, folder: RunFolder) -> None:
    """Follow a run until it is settled; one that is lost until its worker is back."""
    while not is_over(folder):
        state = read_state(folder)
        assert state is not None
        async with Replicator(fleet.connection, folder, state, fleet.beats) as replicator:
            await replicator.wait()


def is_over(folder: RunFolder) -> bool:
    verdict, state = folder.verdict(), read_state(folder)
    return verdict is not None and (verdict.status != "lost" or not (state and state.worker))


def asked_for(home: Path) -> list[RunFolder]:
    """The runs here, without those whose boss was killed before it wrote where they run."""
    return [each for each in list(newest_first(home)) if read_state(each) is not None]


async def has_room(fleet: Fleet) -> bool:
    budget = await Budgets(fleet.connection).read(BUDGET)
    return budget is not None and budget.left >= CEILING


async def boss(url: str, home: Path, count: int, pace_s: float, limit: float) -> None:
    async with opened_fleet(Address(url=url), home, patience_s=None) as fleet:
        await Budgets(fleet.connection).open(BUDGET, limit)
        following: dict[str, asyncio.Task[None]] = {}
        while len(known := asked_for(home)) < count or following.keys() != {k.name for k in known}:
            for each in known:
                if each.name not in following:
                    following[each.name] = asyncio.create_task(settled(fleet, each))
            with suppress(FleetError):  # the server is away; a run that was recorded is in `known`
                if len(known) < count and await has_room(fleet):
                    asked = replace(job(max_cost=CEILING, lease_s=LEASE_S), budget=BUDGET)
                    await submit(fleet.connection, home, asked)
            await asyncio.sleep(pace_s)
        await asyncio.gather(*following.values())


if __name__ == "__main__":
    where, folder, wanted, pace, money = sys.argv[1:]
    asyncio.run(boss(where, Path(folder), int(wanted), float(pace), float(money)))
