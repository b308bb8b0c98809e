"""What a fleet costs its server: CPU for a message, memory for a subject, consumer or account.

Run it with `python benchmarks/fleet_constants.py`; docs/fleet.md says what they lead to.
"""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
from nats.js import api

from nightrook.fleet import subjects
from nightrook.fleet.accounts import folder, members
from nightrook.fleet.accounts.credentials import new_key, read_credentials
from nightrook.fleet.accounts.folder import Listening
from nightrook.fleet.accounts.members import Worker
from nightrook.fleet.accounts.server_file import SERVER_FILE, server_file
from nightrook.fleet.connection import Connection, connected
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.streams import make_streams

_AGENTS = ("claude", "codex")
_TICKS = os.sysconf("SC_CLK_TCK")
_WINDOW = 16
_LOGS = 20_000


def _memory(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().split("\n")
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def _publish(connection: Connection, wanted: list[tuple[str, bytes]]) -> None:
    waiting = []
    for subject, data in wanted:
        waiting.append(await connection.begin_publish(subject, data))
        if len(waiting) == _WINDOW:
            await connection.confirmed(waiting.pop(0))
    for each in waiting:
        await connection.confirmed(each)


async def _messages(pid: int, worker: Connection) -> None:
    for size, count in ((2_000, 4_000), (65_536, 800)):
        server, own = _cpu(pid), time.process_time()
        await _publish(worker, [("ev.ada.run.1.stdout", os.urandom(size))] * count)
        server, own = _cpu(pid) - server, time.process_time() - own
        print(
            f"a message of {size} bytes: {server / count * 1e6:.0f} µs of the server, "
            f"{own / count * 1e6:.0f} µs of the worker"
        )


async def _grown(pid: int, what: str, count: int, act: Callable[[], Awaitable[None]]) -> None:
    before = _memory(pid)
    await act()
    print(f"{what}: {(_memory(pid) - before) / count / 1000:.1f} KB of the server's memory")


async def _sizes(pid: int, boss: Connection) -> None:
    async def logs() -> None:
        await _publish(boss, [(f"ev.ada.run{n}.1.stdout", b"x" * 50) for n in range(_LOGS)])

    async def consumers() -> None:
        for number in range(200):
            config = api.ConsumerConfig(
                name=f"c{number}",
                filter_subject=f"ev.ada.run{number}.>",
                ack_policy=api.AckPolicy.NONE,
                inactive_threshold=600.0,
                mem_storage=True,
            )
            await boss.streams.add_consumer(subjects.EV, config)

    await _grown(pid, "a subject", _LOGS, logs)
    await _grown(pid, "a consumer", 200, consumers)


async def _measured(path: Path, server: LocalServer) -> None:
    def address(member: str) -> Path:
        return path / folder.CREDENTIALS / f"{member}.json"

    boss, worker = (read_credentials(str(address(name))) for name in ("boss", "worker-ada"))
    here = [
        msgspec.structs.replace(member, server=server.url).address() for member in (boss, worker)
    ]
    async with connected(here[0]) as first, connected(here[1]) as second:
        await make_streams(first)
        await _sizes(server.process.pid, first)  # before large messages fill the server's memory
        await _messages(server.process.pid, second)


def _reload(server: LocalServer) -> None:
    """Make a server read its configuration again, and wait until it has."""
    done = b"Reloaded server configuration"
    before = server.log.read_bytes().count(done)
    server.process.send_signal(signal.SIGHUP)
    while server.log.read_bytes().count(done) == before:
        time.sleep(0.01)


def _accounts(path: Path, count: int) -> None:
    worker = Worker(key="", labels=(subjects.ANY,), agents=_AGENTS)
    workers = {f"w{n}": msgspec.structs.replace(worker, key=new_key().public) for n in range(count)}
    fleet = msgspec.structs.replace(members.load(path), workers=workers)
    (path / SERVER_FILE).write_text(server_file(fleet, path))
    shutil.rmtree(path / "store")
    started = time.monotonic()
    with LocalServer(path, configuration=path / SERVER_FILE) as server:
        up = time.monotonic() - started
        started = time.monotonic()
        _reload(server)
        reload = time.monotonic() - started
        memory = _memory(server.process.pid)
    print(f"{count} accounts: start {up:.1f} s, reload {reload:.1f} s, {memory / 1e6:.0f} MB")


def main() -> None:
    """Print the constants."""
    with tempfile.TemporaryDirectory(prefix="rook-") as name:
        path = Path(name)
        folder.create(path, Listening("127.0.0.1", 4222, "127.0.0.1"))
        folder.add_worker(path, "ada", labels=(subjects.ANY,), agents=_AGENTS)
        with LocalServer(path, configuration=path / SERVER_FILE) as server:
            asyncio.run(_measured(path, server))
        for count in (300, 1_000):
            _accounts(path, count)


if __name__ == "__main__":
    main()
