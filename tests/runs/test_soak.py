"""The promises of running under repeated violence: a short version of each, and a long one."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nightrook.process import trees
from nightrook.process.liveness import is_alive
from nightrook.runs.crash_recovery import recover
from nightrook.runs.run import Run
from nightrook.store.list import find_run, newest_first
from nightrook.store.run_folder import RunFolder
from nightrook.story.tail import pieces
from nightrook.testing.scripted_agent import DEMO
from tests.process.recording import is_gone, wait_for
from tests.process.test_recorder import HOST, pids_in
from tests.runs.scripted import play

ROOT = Path(__file__).parent.parent.parent
MB = 1_000_000
LATEST_KILL_S = 2.0  # by then the whole session has been played
AT_ONCE = 4

PLAYER = """
import asyncio, os, sys
from pathlib import Path
from tests.runs.scripted import make

async def main():
    async with make(Path.cwd(), sys.argv[1]) as run:
        async for record in run:
            os.write(1, b"%d\\n" % (record.offset + record.length))

asyncio.run(main())
"""


class Killed(NamedTuple):
    """What a runner that was killed left."""

    seen: int
    kept: int
    verdict: str | None
    died_s: float


def host(folder: Path, code: str, *words: str) -> "subprocess.Popen[bytes]":
    """Start a runner in a process of its own."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    with (folder / "complaints").open("wb") as complaints:
        return subprocess.Popen(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            stderr=complaints,
        )


def working_in(folder: Path) -> list[int]:
    """All living processes whose working folder it is: runner, recorder, agent and the rest."""
    return [pid for pid in _pids() if _folder_of(pid) == str(folder) and not is_gone(pid)]


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _folder_of(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def kill_a_runner(folder: Path, after_s: float, *, at_work: bool) -> Killed:
    """Kill a runner so long after its start, or after the first record that it has shown.

    What it left is held against what it had seen and was played.
    """
    folder.mkdir()
    played = Path(DEMO).read_bytes()
    with host(folder, PLAYER, f"play={DEMO} speed=0 delay=0.005 chunks=900") as runner:
        assert runner.stdout is not None
        shown = runner.stdout.readline() if at_work else b""
        try:
            runner.wait(after_s)
        except subprocess.TimeoutExpired:
            runner.kill()
        before = time.monotonic()
        shown += runner.stdout.read()
        seen = max(map(int, shown.split()[-1:]), default=0)
    wait_for(lambda: not working_in(folder))
    died_s = time.monotonic() - before
    assert (folder / "complaints").read_bytes() == b""
    kept, verdict = 0, None
    for left in list(newest_first(folder / "home")):
        log = b"".join(data for data, _ in pieces(left.path))  # none if it was killed early
        kept = len(log)
        assert played.startswith(log)
        assert trees.marked(left.name) == []
        wait_for(partial(_is_healed, left))
        verdict = _verdict(left)
    assert seen <= kept
    return Killed(seen, kept, verdict, died_s)


def _is_healed(folder: RunFolder) -> bool:
    """Recover it, unless somebody lives: who closes its files has no working folder any more."""
    return recover(folder, alive=is_alive, now=time.time()) or folder.verdict() is not None


def _verdict(folder: RunFolder) -> str:
    """How a run ended, as it is known in every case."""
    assert folder.info() is not None
    verdict = folder.verdict()
    assert verdict is not None
    assert folder.exit() is not None
    return verdict.status


def kill_runners(folder: Path, count: int) -> list[Killed]:
    """Kill so many runners at random points, some at once; give what became of each."""
    chance = random.Random(count)
    times = [chance.uniform(0.0, LATEST_KILL_S) for _ in range(count)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        killings = [
            pool.submit(kill_a_runner, folder / str(number), after_s, at_work=number % 2 == 0)
            for number, after_s in enumerate(times)
        ]
    killed = [killing.result() for killing in killings]
    assert {each.verdict for each in killed} <= {
        "incomplete",
        "denied",
        None,
    }  # the demo is denied a tool
    return killed


def test_a_killed_runner_loses_nothing_and_leaves_nobody(tmp_path: Path) -> None:
    kill_runners(tmp_path, 10)


@pytest.mark.soak
def test_a_thousand_killed_runners_lose_nothing_and_leave_nobody(tmp_path: Path) -> None:
    killed = kill_runners(tmp_path, 1000)
    assert all(each.died_s < 2.0 for each in killed)
    assert sum(each.kept > 0 for each in killed) > 300  # they were killed in the middle


def kill_a_tree(folder: Path, victim: str) -> float:
    """Kill the runner or the recorder of forking daemons; give how long any of them lived on."""
    folder.mkdir()
    code = HOST.format(root=str(ROOT), source=str(ROOT / "src"), folder=str(folder))
    with host(folder, code) as runner:
        assert runner.stdout is not None
        recorder = int(runner.stdout.readline())
        wait_for(lambda: pids_in(folder, 6))
        os.kill(runner.pid if victim == "runner" else recorder, signal.SIGKILL)
        before = time.monotonic()
        if victim == "recorder":
            wait_for(lambda: is_gone(recorder))
            trees.kill_marked(str(folder))  # as the runner or the next command does
        # By the marker: one that was forked just now has not told its process id yet.
        wait_for(lambda: not trees.marked(str(folder)))
        lived = time.monotonic() - before
        runner.kill()
    wait_for(lambda: not working_in(folder))
    assert all(map(is_gone, pids_in(folder, 6)))
    return lived


def kill_trees(folder: Path, victim: str, count: int) -> float:
    """Kill so many, one after the other; give the longest life after it."""
    return max(kill_a_tree(folder / f"{victim}-{number}", victim) for number in range(count))


@pytest.mark.parametrize("victim", ["runner", "recorder"])
def test_nobody_is_left_of_a_few_forking_trees(tmp_path: Path, victim: str) -> None:
    kill_trees(tmp_path, victim, 3)


@pytest.mark.soak
@pytest.mark.parametrize("victim", ["runner", "recorder"])
def test_nobody_is_left_of_a_hundred_forking_trees(tmp_path: Path, victim: str) -> None:
    assert kill_trees(tmp_path, victim, 100) < 2.0


FLOOD = """
import hashlib, json, os, sys, time

def line(number):
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "x" * 50_000}
    user = {"role": "user", "content": [block]}
    message = {"type": "user", "message": user, "session_id": "s", "uuid": str(number)}
    return json.dumps(message).encode() + b"\\n"

size, left, number, worst, digest = 0, int(os.environ["SIZE"]), 0, 0.0, hashlib.sha256()
while left > 0:
    data = line(number)
    left, number = left - len(data), number + 1
    digest.update(data)
    while data:
        before = time.monotonic()
        written = os.write(1, data[:65536])
        worst = max(worst, time.monotonic() - before)
        data = data[written:]
        size += written
with open("told", "w") as file:
    json.dump({"sha256": digest.hexdigest(), "size": size, "worst_stall_s": worst}, file)
"""
STALLED = """
import asyncio, re, sys
from pathlib import Path
import nightrook

async def main():
    agent = [sys.executable, "-I", "-S", "flood.py"]
    env = {"SIZE": sys.argv[1]}
    run = nightrook.run("claude", "x", program=agent, home=Path("home"), env=env)
    async with run:
        screen = run.live()
        records = aiter(run)
        print((await anext(records)).seq, flush=True)  # and no more: both viewers are stalled
        await run.wait()
        await records.aclose()
        assert screen.dropped > 0
    return run

run = asyncio.run(main())
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(run.name)
"""


def flood(folder: Path, size: int, *, stopped: bool) -> dict[str, Any]:
    """Write a large stream with viewers that stall, or a runner that is stopped all the time."""
    (folder / "flood.py").write_text(FLOOD)
    with host(folder, STALLED, str(size)) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == b"0\n", (folder / "complaints").read_text()
        if stopped:
            os.kill(runner.pid, signal.SIGSTOP)
            wait_for(lambda: (folder / "told").exists())
            os.kill(runner.pid, signal.SIGCONT)
        peak, name = runner.stdout.read().decode().split()
    assert (folder / "complaints").read_bytes() == b""
    with find_run(folder / "home", name).path.joinpath("stdout.raw").open("rb") as log:
        kept = hashlib.file_digest(log, "sha256").hexdigest()
    told: dict[str, Any] = json.loads((folder / "told").read_text())
    return {**told, "equal": kept == told["sha256"], "peak_mb": int(peak) * 1024 / MB}


@pytest.mark.parametrize("stopped", [False, True])
def test_a_stalled_viewer_costs_no_byte_no_time_and_no_memory(
    tmp_path: Path, stopped: bool
) -> None:
    told = flood(tmp_path, 20 * MB, stopped=stopped)
    assert told["equal"], told
    assert told["worst_stall_s"] < 1.0, told
    assert told["peak_mb"] < 100, told


@pytest.mark.soak
@pytest.mark.parametrize("stopped", [False, True])
def test_a_stalled_viewer_of_a_gigabyte_costs_no_byte_no_time_and_no_memory(
    tmp_path: Path, stopped: bool
) -> None:
    told = flood(tmp_path, 1000 * MB, stopped=stopped)
    assert told["equal"], told
    assert told["worst_stall_s"] < 0.25, told
    assert told["peak_mb"] < 100, told


def too_open(home: Path) -> list[str]:
    """What others than its owner may read, write or enter."""
    found = [home, *home.rglob("*")]
    return [str(path) for path in found if path.lstat().st_mode & (0o077 | 0o100 * path.is_file())]


def play_without_umask(folder: Path, script: str, **options: Any) -> None:
    before = os.umask(0)
    try:
        folder.mkdir()
        play(folder, script, **options)
    finally:
        os.umask(before)
    assert too_open(folder / "home") == []


def test_a_run_leaves_nothing_that_others_may_open(tmp_path: Path) -> None:
    play_without_umask(tmp_path / "run", "say=hi", prompt="x" * 300_000)


@pytest.mark.soak
@pytest.mark.parametrize(
    "script", ["no-result", "bad-flag", "stderr-flood=2000000", "line=12000000", "forkers=3"]
)
def test_no_fault_leaves_anything_that_others_may_open(tmp_path: Path, script: str) -> None:
    play_without_umask(tmp_path / "run", f"say=hi {script}")


def test_the_agent_keeps_the_umask_of_its_user(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        play(tmp_path, "write-file=made")
    finally:
        os.umask(before)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o640


def test_ending_what_a_killed_recorder_left_takes_no_child_of_ours(tmp_path: Path) -> None:
    async def kill_recorder(run: Run) -> None:
        wait_for(lambda: trees.marked(str(run.folder.path)))
        info = run.folder.info()
        assert info is not None
        assert info.recorder_pid is not None
        os.kill(info.recorder_pid, signal.SIGKILL)

    with subprocess.Popen(["sh", "-c", "exit 7"]) as child:
        wait_for(lambda: is_gone(child.pid))
        run = play(tmp_path, "hang-in-tool", kill_recorder)
    assert child.returncode == 7
    assert trees.marked(str(run.folder.path)) == []
