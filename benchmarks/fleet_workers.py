"""The CPU of 100 runs on four workers, against that of the same runs without a fleet.

Each worker is a process of its own, as on four machines; the reference are four processes that run
the same without a fleet. Each counts its own CPU, and that of its recorders, from its first run to
its last. The agents only pass on the lines that this process writes for them at an even rate, so
that they cost next to nothing and the rate is true. The server and the boss do not count: they are
on other machines.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nightrook.config.options import RunOptions
from nightrook.fleet import subjects
from nightrook.fleet.boss.submit import job_of, submit
from nightrook.fleet.connection import Address, connected
from nightrook.fleet.streams import make_streams
from nightrook.fleet.worker.rights import WorkerRights
from nightrook.fleet.worker.worker import Worker, WorkerPlan
from nightrook.runs.start import start

WORKERS = 4
RUNS = 100
_SHARE = RUNS // WORKERS
_STEP_S = 0.005
_AGENT = """#!/bin/sh
for pipe in "$PIPES"/*.new; do
    mv "$pipe" "$pipe.taken" 2>/dev/null && exec cat "$pipe.taken"
done
"""


class Spent(NamedTuple):
    """Seconds of CPU, and of a run."""

    own: float
    """Of the processes that follow the runs, and ship them."""

    recorders: float
    """Of their recorders, and of the agents, which cost next to nothing."""

    run_s: float = 0.0
    """How long a run took on average."""

    @property
    def all(self) -> float:
        """All of it."""
        return self.own + self.recorders


def measured(url: str, folder: Path, lines: list[bytes]) -> tuple[Spent, Spent]:
    """What the runs cost without a fleet, and with it."""
    _install_agent(folder / "bin")
    alone = _measured("alone", folder / "alone", lines)
    asyncio.run(_submit(url, folder / "boss"))
    before = asyncio.run(_ended(url))
    shipped = _measured("worker", folder / "shipped", lines, url)
    if (arrived := asyncio.run(_ended(url)) - before) != RUNS:
        raise SystemExit(f"only {arrived} runs have arrived")
    return alone, shipped


def _install_agent(programs: Path) -> None:
    """Put the agent that passes on what is written for it first on PATH."""
    programs.mkdir(parents=True)
    program = programs / "claude"
    program.write_text(_AGENT)
    program.chmod(0o755)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"


def _measured(what: str, folder: Path, lines: list[bytes], *url: str) -> Spent:
    pipes = folder / "pipes"
    pipes.mkdir(parents=True)
    agents = [_Agent(pipes / f"{number}.new", lines) for number in range(RUNS)]
    os.environ["PIPES"] = str(pipes)
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, what, str(folder / f"w{number}"), *url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(WORKERS)
    ]
    writing = agents
    while writing := [agent for agent in writing if not agent.write(time.perf_counter())]:
        time.sleep(_STEP_S / 4)
    reports = [json.loads(process.communicate()[0]) for process in processes]
    own, recorders = (sum(figures) for figures in zip(*reports, strict=True))
    return Spent(own, recorders, sum(agent.took_s for agent in agents) / RUNS)


class _Agent:
    """Writes lines for an agent, one at a step, from when it has started."""

    def __init__(self, path: Path, lines: list[bytes]) -> None:
        os.mkfifo(path)
        self._path = path
        self._taken = path.with_name(f"{path.name}.taken")
        self._lines = lines
        self._fd: int | None = None
        self._began = 0.0
        self._next = 0
        self.took_s = 0.0

    def write(self, now: float) -> bool:
        """Write the lines that are due; whether all of them are written."""
        if self._fd is None:
            with suppress(OSError):  # no agent reads it yet
                self._fd = os.open(self._taken, os.O_WRONLY | os.O_NONBLOCK)
                self._began = now
            return False
        with suppress(BlockingIOError):  # the pipe is full
            while self._next < len(self._lines) and now >= self._began + self._next * _STEP_S:
                os.write(self._fd, self._lines[self._next])
                self._next += 1
        if self._next < len(self._lines):
            return False
        os.close(self._fd)
        self.took_s = now - self._began
        return True


async def _submit(url: str, home: Path) -> None:
    async with connected(Address(url=url)) as connection:
        await make_streams(connection)
        for _ in range(RUNS):
            await submit(connection, home, job_of(RunOptions(prompt="x")))


async def _ended(url: str) -> int:
    """How many runs have arrived to their ends."""
    async with connected(Address(url=url)) as connection:
        info = await connection.streams.stream_info(subjects.EV, subjects_filter="ev.*.*.*.ended")
    return len(info.state.subjects or {})


def _cpu() -> tuple[float, ...]:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return tuple(usage.ru_utime + usage.ru_stime for usage in usages)


async def _alone(folder: Path) -> None:
    async def one(number: int) -> None:
        cwd = folder / f"cwd{number}"
        cwd.mkdir(parents=True)
        async with start(RunOptions(prompt="x", cwd=str(cwd), home=str(folder / "home"))) as run:
            await run.wait()

    await asyncio.gather(*(one(number) for number in range(_SHARE)))


async def _worker(folder: Path, url: str) -> None:
    async with connected(Address(url=url, user=folder.name)) as connection:
        rights = WorkerRights(agents=("claude",))
        plan = WorkerPlan(name=folder.name, home=folder, rights=rights, jobs=_SHARE)
        worker = Worker(connection, plan)
        running = asyncio.create_task(worker.run())
        await asyncio.to_thread(sys.stdin.read)  # until all lines are written
        worker.drain()
        await running


def main() -> None:
    """Be one of the processes, and report the CPU."""
    what, folder, *url = sys.argv[1:]
    began = _cpu()
    asyncio.run(_worker(Path(folder), *url) if what == "worker" else _alone(Path(folder)))
    print(json.dumps([after - before for before, after in zip(began, _cpu(), strict=True)]))


if __name__ == "__main__":
    main()
