"""`rook fleet demo`: a server, two workers and a few runs on this machine, all scripted."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nightrook.cli.commands.fleet.status import status
from nightrook.cli.terminal.output import say
from nightrook.config.options import RunOptions
from nightrook.fleet.boss.fleet_run import Fleet, FleetRun, opened_fleet
from nightrook.fleet.boss.submit import job_of
from nightrook.fleet.connection import Address
from nightrook.fleet.nats_server import LocalServer
from nightrook.testing import install_agent

_WORKERS = ("ada", "bob")
_PROMPTS = ("Fix the tests", "Port the parser", "Write the docs", "Review the change")
_END_S = 20.0


def demo() -> None:
    """Start a fleet on this machine, run a few jobs on it, show them, and end it."""
    with tempfile.TemporaryDirectory(prefix="rook-fleet-") as name, ExitStack() as stack:
        folder = Path(name)
        programs = folder / "bin"
        programs.mkdir()
        install_agent(programs, "--script-say=done", "--script-delay=0.05")
        server = stack.enter_context(LocalServer(folder / "server"))
        say(f"a server at {server.url}")
        for worker in _WORKERS:
            stack.enter_context(_worker(worker, folder, server.url))
        os.environ["ROOK_HOME"] = str(folder / "home")
        asyncio.run(_run(Address(url=server.url), folder / "home"))
        status(server.url)
    say("to make one of your own machines: rook fleet init FOLDER")


@contextmanager
def _worker(name: str, folder: Path, url: str) -> Iterator[None]:
    environment = {
        **os.environ,
        "ROOK_HOME": str(folder / name),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    words = ["worker", "--credentials", url, "--name", name, "--agent", "claude", "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "nightrook", *words], env=environment, stdin=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _run(address: Address, home: Path) -> None:
    async with opened_fleet(address, home) as fleet:
        await asyncio.gather(*(_one(fleet, prompt) for prompt in _PROMPTS))


async def _one(fleet: Fleet, prompt: str) -> None:
    async with FleetRun(fleet, job_of(RunOptions(prompt=prompt))) as run:
        verdict = await run.wait()
        say(f"run {run.name} on {run.replicator.state.worker}: {verdict.status} · {prompt}")
