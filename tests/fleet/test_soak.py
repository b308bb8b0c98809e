"""Workers, bosses and the server are killed, frozen and restarted at random: nothing runs twice."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.boss.fleet_run import Fleet, opened_fleet
from nightrook.fleet.boss.folders import read_state
from nightrook.fleet.boss.settlement import stored_settlement
from nightrook.fleet.connection import Address, FleetError
from nightrook.fleet.nats_server import LocalServer
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder
from tests.fleet.soak_boss import BUDGET, LEASE_S
from tests.fleet.test_processes import environment, rook

# nats-py forgets the streams of a connection that broke while it was being made again.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BOSS = "boss"
_CENT = 0.01


class Plan(NamedTuple):
    """How long and how hard a soak is."""

    runs: int
    faults: int
    seed: int
    pace_s: float
    """Seconds from one run to the next, so that they last as long as the faults."""

    limit: float
    """Less than the ceilings of all runs together: some wait until others have freed money."""

    script: str


class Machines:
    """The workers and the boss of a soak, which are restarted whenever they were killed."""

    def __init__(self, folder: Path, server: LocalServer, plan: Plan) -> None:
        self._folder, self._server, self._plan = folder, server, plan
        self.home = folder / "home"
        self.workers = ["w0", "w1"]
        self.processes = {name: self.start(name) for name in (*self.workers, BOSS)}

    def start(self, name: str) -> subprocess.Popen[bytes]:
        env = environment(self._folder, name, self._plan.script, self._server.url)
        words = ("worker", "--credentials", self._server.url, "--name", name, "--agent", "claude")
        command = self._boss() if name == BOSS else rook(*words, "--jobs", "4")
        return subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)

    def _boss(self) -> list[str]:
        numbers = (str(each) for each in (self._plan.runs, self._plan.pace_s, self._plan.limit))
        module = "tests.fleet.soak_boss"
        return [sys.executable, "-m", module, self._server.url, str(self.home), *numbers]

    async def boss_ended(self) -> None:
        """Wait until the boss has settled all runs; one that fails is started again."""
        while await asyncio.to_thread(self.processes[BOSS].wait):
            self.processes[BOSS] = self.start(BOSS)

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()
        self.processes[name] = self.start(name)

    def end(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            for _ in range(3):
                process.terminate()
        for process in self.processes.values():
            process.wait(60)

    def folders(self) -> list[RunFolder]:
        """The folder of every run that any worker ever started."""
        homes = [self._folder / name / "workers" / name for name in self.workers]
        return [folder for home in homes for folder in list(newest_first(home))]


async def faults(machines: Machines, server: LocalServer, plan: Plan) -> None:
    """Kill and freeze what there is, at random points."""
    chance = random.Random(plan.seed)
    for _ in range(plan.faults):
        await asyncio.sleep(chance.uniform(0.05, 0.6))
        name = chance.choice((*machines.workers, BOSS, "server"))
        if chance.random() < 0.5:
            await asyncio.to_thread(machines.kill if name != "server" else restart(server), name)
            continue
        frozen = server.process if name == "server" else machines.processes[name]
        frozen.send_signal(signal.SIGSTOP)
        await asyncio.sleep(chance.uniform(0.2, 1.5 * LEASE_S if chance.random() < 0.2 else 1))
        frozen.send_signal(signal.SIGCONT)


def restart(server: LocalServer) -> Callable[[str], None]:
    def work(_: str) -> None:
        server.kill()
        server.start()

    return work


async def watched_budget(fleet: Fleet) -> None:
    """Read the budget while the soak lasts: it is never exceeded."""
    while True:
        with suppress(FleetError):
            budget = await Budgets(fleet.connection).read(BUDGET)
            assert budget is None or budget.spent + budget.reserved <= budget.limit + _CENT
        await asyncio.sleep(0.5)


async def soak(folder: Path, server: LocalServer, plan: Plan) -> Counter[str]:
    async with opened_fleet(Address(url=server.url), folder / "home") as fleet:
        machines = Machines(folder, server, plan)
        watching = asyncio.create_task(watched_budget(fleet))
        try:
            await faults(machines, server, plan)
            await machines.boss_ended()
            assert not watching.done(), "the budget was exceeded"
            return await _checked(fleet, machines)
        finally:
            watching.cancel()
            await asyncio.to_thread(machines.end)


async def _checked(fleet: Fleet, machines: Machines) -> Counter[str]:
    """Nothing ran twice or is unknown, every feed is its worker's log, and all is paid once."""
    logs = _started(machines)
    statuses: Counter[str] = Counter()
    spent = 0.0
    for here in list(newest_first(machines.home)):
        if (state := read_state(here)) is None:
            continue  # its boss was killed before it asked for it
        settled = await stored_settlement(fleet.connection, state.job)
        verdict = here.verdict()
        assert settled is not None
        assert verdict is not None
        assert settled[0].status == verdict.status, "a run is unknown"
        statuses[verdict.status] += 1
        spent += settled[0].spent_usd or 0.0
        if (there := logs.pop(state.job.id, None)) is not None:
            for name in ("stdout.raw", "stderr.raw"):
                assert _bytes(here.path / name) == _bytes(there / name), name
    assert not logs, "a worker ran something that is unknown here"
    budget = await Budgets(fleet.connection).read(BUDGET)
    assert budget is not None
    assert budget.open == 0
    assert budget.spent == pytest.approx(spent)
    assert budget.spent <= budget.limit
    return statuses


def _started(machines: Machines) -> dict[str, Path]:
    """The folder of each attempt that a worker has started."""
    started: dict[str, Path] = {}
    for there in machines.folders():
        info = there.info()
        assert info is not None
        id = f"{info.loop}/{info.iteration}"
        assert id not in started, "a job was started twice"
        started[id] = there.path
    return started


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def test_a_few_faults_neither_repeat_nor_lose_a_run(server: LocalServer, tmp_path: Path) -> None:
    plan = Plan(runs=4, faults=3, seed=1, pace_s=0.1, limit=0.25, script="say=fine delay=0.02")
    statuses = asyncio.run(soak(tmp_path, server, plan))
    assert statuses.total() == 4


@pytest.mark.soak
def test_300_faults_over_100_runs(server: LocalServer, tmp_path: Path) -> None:
    seed = int(os.environ.get("ROOK_TEST_SEED", "7"))
    script = "say=fine delay=0.3"
    plan = Plan(runs=100, faults=300, seed=seed, pace_s=3.0, limit=1.0, script=script)
    statuses = asyncio.run(soak(tmp_path, server, plan))
    print(dict(statuses))  # noqa: T201
    assert statuses.total() == 100
