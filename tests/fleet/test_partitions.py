"""Machines whose network is cut: the run goes on, and its feed is whole in the end."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightrook.testing import install_agent
from tests.fleet.network import Network, missing, network

pytestmark = [
    pytest.mark.soak,
    pytest.mark.linux("network namespaces"),
    pytest.mark.skipif((why := missing()) is not None, reason=str(why)),
]
ROOK = [sys.executable, "-m", "nightrook"]


def _worker(net: Network, folder: Path, *, delay: float) -> subprocess.Popen[bytes]:
    url = net.add("ada")
    install_agent(folder, "--script-play", "short", "--script-delay", str(delay))
    environment = {"ROOK_HOME": str(folder / "w"), "PATH": f"{folder}:/usr/bin:/bin"}
    command = [*ROOK, "worker", "--credentials", url, "--name", "ada"]
    return net.start("ada", command, environment, folder / "worker.log")


def _boss(net: Network, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    url = net.add("boss")
    environment = {"ROOK_HOME": str(folder / "b")}
    command = [*ROOK, "run", "--on", "fleet", "--credentials", url, "--agent", "claude", *words]
    return net.start("boss", command, environment, folder / "boss.log")


def _only(folder: Path, pattern: str) -> Path:
    until = time.monotonic() + 60
    while not (found := list(folder.glob(pattern))):
        assert time.monotonic() < until, pattern
        time.sleep(0.05)
    return found[0]


def _grown(path: Path, size: int) -> None:
    until = time.monotonic() + 60
    while path.stat().st_size <= size:
        assert time.monotonic() < until, path
        time.sleep(0.05)


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def test_a_cut_that_is_shorter_than_the_lease_costs_nothing(tmp_path: Path) -> None:
    with network(tmp_path) as net:
        worker = _worker(net, tmp_path, delay=0.5)
        boss = _boss(net, tmp_path, "--lease", "30s", "Go")
        try:
            theirs = _only(tmp_path, "w/workers/ada/runs/*/stdout.raw")
            _grown(theirs, 0)
            net.cut("ada")
            _grown(theirs, theirs.stat().st_size)  # the agent works on
            net.mend("ada")
            code = boss.wait(120)
        finally:
            for process in (boss, worker):
                _ended(process)
        ours = _only(tmp_path, "b/runs/*/stdout.raw")
        assert (code, ours.read_bytes() == theirs.read_bytes()) == (0, True)


def test_a_cut_that_outlives_the_lease_is_a_lost_run_whose_agent_was_stopped(
    tmp_path: Path,
) -> None:
    with network(tmp_path) as net:
        worker = _worker(net, tmp_path, delay=2.0)
        boss = _boss(net, tmp_path, "--lease", "5s", "Go")
        try:
            theirs = _only(tmp_path, "w/workers/ada/runs/*/stdout.raw")
            _grown(theirs, 0)
            net.cut("ada")
            code = boss.wait(120)
            _only(tmp_path, "w/workers/ada/runs/*/exit.json")
        finally:
            for process in (boss, worker):
                _ended(process)
        verdict = json.loads(_only(tmp_path, "b/runs/*/verdict.json").read_text())
        assert (code, verdict["status"]) == (3, "lost")
