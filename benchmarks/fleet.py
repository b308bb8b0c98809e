"""What shipping a run to a fleet costs: CPU with and without it, throughput, and how far behind.

Run it with `python benchmarks/fleet.py`; `nats-server` must be installed. Figures are ratios and
rates of one run on this machine.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fleet_workers

from nightrook.asyncio_tasks import end_tasks
from nightrook.config.options import RunOptions
from nightrook.fleet import subjects
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun, opened_fleet
from nightrook.fleet.boss.submit import job_of
from nightrook.fleet.claims import SILENT_S
from nightrook.fleet.connection import Address, connect, connected
from nightrook.fleet.messages import Ended
from nightrook.fleet.mirror import Mirror
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.shipper import Attempt, Shipper
from nightrook.fleet.stream_reader import JetStreamReader
from nightrook.fleet.streams import make_streams
from nightrook.fleet.worker.rights import WorkerRights
from nightrook.fleet.worker.worker import Worker, WorkerPlan
from nightrook.runs.start import start
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo
from nightrook.testing import install_agent

_LOG = 64 * 1024 * 1024
_RUNS = 25
_STOPS = 10
_WATCH_S = 2.0
_RATE, _RATE_S, _STEP_S = 20_000, 5.0, 0.01
_LINE = b'{"type":"assistant","text":"%s"}\n' % (b"x" * 96)
_RATE_SUBJECT = (subjects.EV, subjects.events_of("rate", 1))
_KILLS = 3


def _info() -> RunInfo:
    return RunInfo(command=["claude"], cwd="/", started_at=1.0)


async def _bulk(url: str, folder: Path) -> None:
    """How fast a log is sent, and how fast a late viewer reads it."""
    source = create_run(folder / "a", _info())
    (source.path / "stdout.raw").write_bytes(os.urandom(1 << 20) * (_LOG >> 20))
    async with connected(Address(url=url)) as connection:
        await make_streams(connection)
        shipper = Shipper(connection, Attempt("w", "bulk"), source.path)
        began = time.perf_counter()
        await shipper.finish(lambda sizes: Ended(sizes=sizes))
        sent_s = time.perf_counter() - began
        target = create_run(folder / "b", _info())
        began, size = time.perf_counter(), 0
        reader = JetStreamReader(connection, subjects.EV, subjects.events_of("bulk", 1))
        with Mirror(target) as mirror:
            async for message in reader.messages():
                if message is not None and message.subject.endswith("stdout"):
                    mirror.write("stdout", int(message.headers[subjects.OFFSET]), message.data)
                    size += len(message.data)
                elif message is not None:
                    break
        read_s = time.perf_counter() - began
    print(
        f"sent {_LOG / sent_s / 1e6:.0f} MB/s; a late viewer reads {size / read_s / 1e6:.0f} MB/s"
    )


async def _rate(url: str, folder: Path) -> None:
    """Whether a feed keeps up with a run that writes 20,000 lines a second."""
    source, target = create_run(folder / "a", _info()), create_run(folder / "b", _info())
    path = source.path / "stdout.raw"
    path.touch()
    async with connected(Address(url=url)) as connection:
        await make_streams(connection)
        shipper = Shipper(connection, Attempt("w", "rate"), source.path)
        following = asyncio.create_task(shipper.follow(lambda _: asyncio.sleep(0.01), lambda: 0))
        with Mirror(target) as mirror:
            copying = asyncio.create_task(
                _copied(JetStreamReader(connection, *_RATE_SUBJECT), mirror)
            )
            began = time.perf_counter()
            written = await asyncio.to_thread(_write_at_rate, path)
            took = time.perf_counter() - began
            while mirror.sizes.get("stdout", 0) < written:
                await asyncio.sleep(0.001)
            behind = time.perf_counter() - began - took
            await end_tasks([following, copying])
    rate = written / len(_LINE) / took
    print(
        f"{rate:,.0f} lines/s for {took:.0f} s: all is here {behind * 1000:.0f} ms after the last"
    )


async def _copied(reader: JetStreamReader, mirror: Mirror) -> None:
    async for message in reader.messages():
        if message is not None and message.subject.endswith("stdout"):
            mirror.write("stdout", int(message.headers[subjects.OFFSET]), message.data)


def _write_at_rate(path: Path) -> int:
    """Write lines at an even rate, as another process would; return how many bytes."""
    steps, began = int(_RATE_S / _STEP_S), time.perf_counter()
    with path.open("ab", buffering=0) as file:
        for step in range(1, steps + 1):
            file.write(_LINE * int(_RATE * _STEP_S))
            time.sleep(max(0.0, began + step * _STEP_S - time.perf_counter()))
        return file.tell()


async def _lost(url: str, folder: Path) -> None:
    """How long it takes until a worker that was killed is shown as lost."""
    times: list[float] = []
    async with opened_fleet(Address(url=url), folder / "boss") as fleet:
        for _ in range(_KILLS):
            process = _started_worker(url, folder)
            while "k" not in fleet.beats.workers or fleet.beats.workers["k"].count < 2:
                await asyncio.sleep(0.01)
            process.kill()
            began = time.perf_counter()
            process.wait()
            while fleet.beats.workers["k"].silent_s <= SILENT_S:
                await asyncio.sleep(0.01)
            times.append(time.perf_counter() - began)
            del fleet.beats.workers["k"]
    print(f"a killed worker is shown as lost after {max(times):.1f} s (worst of {len(times)})")


def _started_worker(url: str, folder: Path) -> "subprocess.Popen[bytes]":
    words = ["worker", "--credentials", url, "--name", "k", "--agent", "claude"]
    environment = {**os.environ, "ROOK_HOME": str(folder)}
    command = [sys.executable, "-m", "nightrook", *words]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _local(folder: Path) -> float:
    """The CPU of runs without a shipper."""
    began = _cpu()

    async def one(number: int) -> None:
        cwd = folder / f"cwd{number}"
        cwd.mkdir(parents=True)
        async with start(RunOptions(prompt="x", cwd=str(cwd), home=str(folder / "home"))) as run:
            await run.wait()

    await asyncio.gather(*(one(number) for number in range(_RUNS)))
    return _cpu() - began


async def _worker(url: str, folder: Path) -> float:
    """The CPU of a worker that runs and ships the same."""
    connection = await connect(Address(url=url, user="w"))
    rights = WorkerRights(agents=("claude",))
    worker = Worker(connection, WorkerPlan(name="w", home=folder / "w", rights=rights, jobs=_RUNS))
    running = asyncio.create_task(worker.run())
    began, seen = _cpu(), 0
    while seen < _RUNS:
        await asyncio.sleep(0.2)
        home = folder / "w" / "outbox"
        entries = list(home.iterdir()) if home.exists() else []
        seen = sum(b'"reported"' in each.read_bytes() for each in entries)
    spent = _cpu() - began
    worker.drain()
    await running
    await connection.close()
    return spent


async def _latencies(url: str, folder: Path) -> None:
    """How far a feed is behind the worker's own log, and how long a stop takes."""
    connection = await connect(Address(url=url, user="l"))
    rights = WorkerRights(agents=("claude",))
    worker = Worker(connection, WorkerPlan(name="l", home=folder / "l", rights=rights))
    running = asyncio.create_task(worker.run())
    lags: list[float] = []
    stops: list[float] = []
    async with opened_fleet(Address(url=url), folder / "boss") as fleet:
        for _ in range(_STOPS):
            async with FleetRun(fleet, job_of(RunOptions(prompt="x"))) as run:
                await _measure_lags(run, lags)
                began = time.perf_counter()
                run.stop(by="rook stop")
                await run.replicator.wait()
                stops.append(time.perf_counter() - began)
    worker.drain()
    await running
    await connection.close()
    print(f"the feed is {_p95(lags) * 1000:.0f} ms behind the worker's log (p95 of {len(lags)})")
    print(f"a stop takes {_p95(stops):.2f} s until it is settled (p95 of {len(stops)})")


async def _measure_lags(run: FleetRun, lags: list[float]) -> None:
    seen = 0
    began = time.monotonic()
    while time.monotonic() - began < _WATCH_S:
        arrivals = list(run.folder.arrivals())
        now = time.time()
        lags += [now - arrival.at for arrival in arrivals[seen:]]
        seen = len(arrivals)
        await asyncio.sleep(0.005)


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else float("nan")


async def _ask(fleet: Fleet) -> None:
    async with FleetRun(fleet, job_of(RunOptions(prompt="x"))) as run:
        await run.replicator.wait()


async def _boss(url: str, folder: Path) -> None:
    async with opened_fleet(Address(url=url), folder / "boss") as fleet:
        await asyncio.gather(*(_ask(fleet) for _ in range(_RUNS)))


def main() -> None:
    """Measure, and print the figures."""
    if len(sys.argv) > 1:  # the boss, in a process of its own
        asyncio.run(_boss(sys.argv[1], Path(sys.argv[2])))
        return
    with tempfile.TemporaryDirectory() as name, LocalServer(Path(name, "nats")) as server:
        folder = Path(name)
        asyncio.run(_bulk(server.url, folder / "bulk"))
        programs = folder / "bin"
        programs.mkdir()
        lines = folder / "lines.jsonl"
        _write_lines(lines)
        install_agent(programs, f"--script-play={lines}", "--script-delay=0.005")
        os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
        asyncio.run(_rate(server.url, folder / "rate"))
        asyncio.run(_lost(server.url, folder / "lost"))
        asyncio.run(_latencies(server.url, folder / "latencies"))
        alone = asyncio.run(_local(folder / "local"))
        command = [sys.executable, __file__, server.url, str(folder / "fleet")]
        boss = subprocess.Popen(command)
        shipped = asyncio.run(_worker(server.url, folder / "fleet"))
        boss.wait()
        print(
            f"{_RUNS} runs of 200 lines/s: {alone:.2f} s of CPU without a fleet, "
            f"{shipped:.2f} s with it ({shipped / alone:.2f}x)"
        )
        print(_four_workers(server.url, folder / "four", lines))


def _four_workers(url: str, folder: Path, lines: Path) -> str:
    """What shipping costs on four workers, at a rate that is kept."""
    alone, shipped = fleet_workers.measured(
        url, folder, lines.read_bytes().splitlines(keepends=True)
    )
    return (
        f"100 runs of 200 lines/s on four workers, each {shipped.run_s:.1f} s: {alone.all:.2f} s "
        f"of CPU without a fleet, {shipped.all:.2f} s with it ({shipped.all / alone.all:.2f}x); "
        f"without the recorders {alone.own:.2f} s and {shipped.own:.2f} s "
        f"({shipped.own / alone.own:.2f}x)"
    )


def _write_lines(path: Path) -> None:
    from nightrook.testing import DEMO

    lines = DEMO.read_bytes().splitlines(keepends=True)
    middle = [line for line in lines[1:-1] if b'"text"' in line][:20] or lines[1:-1]
    body = [middle[number % len(middle)] for number in range(1000)]
    path.write_bytes(b"".join([lines[0], *body, lines[-1]]))


if __name__ == "__main__":
    main()
