"""`rook fleet`: the machines of a fleet, their current runs, and the lost runs."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import click
import msgspec

from nightrook.cli.terminal.output import say
from nightrook.display.console import columns, look_of
from nightrook.display.table import table
from nightrook.fleet.accounts.credentials import chosen_fleet
from nightrook.fleet.boss.fleet_run import Fleet, opened_fleet
from nightrook.fleet.boss.folders import read_state
from nightrook.fleet.boss.heartbeats import Heard
from nightrook.fleet.boss.replicator import Replicator
from nightrook.fleet.claims import SILENT_S
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import suggested
from nightrook.store.home import home_folder
from nightrook.store.list import NewestFirst
from nightrook.store.run_folder import RunFolder

_HEAD = ("MACHINE", "STATE", "JOBS", "RUNS", "LOAD", "VERSION", "AGENTS", "LABELS")
_LISTEN_S = 2.25
_CATCH_UP_S = 10.0
_MOST_RUNS = 1000
_WEEK_S = 7 * 86_400.0


class ListedWorker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker, as JSON."""

    worker: str
    state: str
    runs: tuple[str, ...]
    jobs: int
    load: float | None
    version: str
    agents: tuple[str, ...]
    labels: tuple[str, ...]
    problem: str | None


def status(credentials: str | None, *, as_json: bool = False) -> None:
    """Print the machines of a fleet, and bring the runs here up to date."""
    address, _ = chosen_fleet(credentials)

    async def work() -> tuple[list[ListedWorker], list[str]]:
        async with opened_fleet(address, home_folder()) as fleet:
            _, lost = await asyncio.gather(asyncio.sleep(_LISTEN_S), refreshed(fleet))
            return [_listed(name, heard) for name, heard in _sorted(fleet)], lost

    workers, lost = asyncio.run(work())
    if as_json:
        for worker in workers:
            click.echo(msgspec.json.encode(worker).decode())
        return
    rows = [_row(worker) for worker in workers]
    paint, width = look_of(sys.stdout, os.environ).paint(), columns(sys.stdout)
    shown = ["no machine has been heard"]
    if rows:
        shown = table(_HEAD, rows, width=width, paint=paint)
    click.echo("\n".join(shown))
    for worker in workers:
        if worker.problem is not None:
            say(f"{worker.worker}: {worker.problem}")
    for name in lost:
        say(f"run {name} is lost: {suggested('show', name)}")


async def refreshed(fleet: Fleet) -> list[str]:
    """Bring the runs of a fleet here up to date that are not known to be over; name the lost."""
    lost = []
    for folder in _unsettled(fleet):
        with suppress(NightrookError, TimeoutError):
            state = read_state(folder)
            if state is None:
                continue
            async with Replicator(fleet.connection, folder, state, fleet.beats) as replicator:
                async with asyncio.timeout(_CATCH_UP_S):
                    await replicator.catch_up()
            verdict = folder.verdict()
            if verdict is not None and verdict.status == "lost":
                lost.append(folder.name)
    return lost


def _unsettled(fleet: Fleet) -> Iterator[RunFolder]:
    """The newest runs of a fleet here that are not over, or are lost."""
    for count, run in enumerate(NewestFirst(fleet.home)):
        if count >= _MOST_RUNS or run.started_at < time.time() - _WEEK_S:
            return
        if run.info is None or run.info.fleet is None:
            continue
        with suppress(NightrookError):
            verdict = run.folder.verdict()
            if verdict is None or verdict.status == "lost":
                yield run.folder


def _sorted(fleet: Fleet) -> list[tuple[str, Heard]]:
    return sorted(fleet.beats.workers.items())


def _listed(name: str, heard: Heard) -> ListedWorker:
    beat = heard.beat
    if heard.count < 2 or heard.silent_s > SILENT_S:  # the first one that is seen may be old
        state = "lost"
    else:
        state = "draining" if beat.draining else "ready"
    return ListedWorker(
        worker=name,
        state=state,
        runs=tuple(each.run for each in beat.running),
        jobs=beat.jobs,
        load=beat.load,
        version=beat.version,
        agents=beat.agents,
        labels=beat.labels,
        problem=beat.problem,
    )


def _row(worker: ListedWorker) -> tuple[str, ...]:
    load = "" if worker.load is None else f"{worker.load:.1f}"
    texts = (
        worker.worker,
        worker.state,
        f"{len(worker.runs)}/{worker.jobs}",
        " ".join(worker.runs),
        load,
        worker.version,
        " ".join(worker.agents),
        " ".join(worker.labels),
    )
    return tuple(map(safe_line, texts))
