"""An agent's whole process tree: who belongs to it, and how it is ended."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from nightrook.process import trees
from nightrook.process.systems.this_system import system
from tests.process.recording import is_gone, wait_for


def test_all_descendants_are_found_and_ended(tmp_path: Path) -> None:
    script = "sleep 60 & sh -c 'sleep 60 & echo ready; wait' & wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        wait_for(lambda: len(trees.descendants(process.pid)) >= 3)
        below = trees.descendants(process.pid)
        assert process.pid not in below
        trees.terminate([*below, process.pid])
        wait_for(lambda: all(is_gone(pid) for pid in below))


def _program(pid: int) -> str:
    """What a process is; in the middle of an exec it carries no marker for a moment."""
    return Path(f"/proc/{pid}/comm").read_text().strip()


def test_the_marker_finds_what_nobody_is_the_parent_of(tmp_path: Path) -> None:
    environment = {**os.environ, trees.MARKER: str(tmp_path)}
    with subprocess.Popen(
        ["sh", "-c", "setsid sleep 60 & echo begun"], env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
    wait_for(lambda: [_program(pid) for pid in trees.marked(str(tmp_path))] == ["sleep"])
    assert trees.kill_marked(str(tmp_path)) == []
    assert trees.marked(str(tmp_path)) == []


@pytest.mark.linux("an exec that can be told from a hidden environment")
def test_the_marker_finds_what_is_in_the_midst_of_an_exec(tmp_path: Path) -> None:
    restless = tmp_path / "restless"
    restless.write_text('#!/bin/sh\nexec "$0"\n')
    restless.chmod(0o755)
    with subprocess.Popen([restless], env={trees.MARKER: "restless"}) as process:
        wait_for(lambda: trees.marked("restless"))
        # Each look has a chance of about one in a hundred to come at the wrong moment.
        seen = [trees.marked("restless") for _ in range(300)]
        process.kill()
    assert seen == [[process.pid]] * 300


def test_a_process_that_survives_sigkill_cannot_hang_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "send", lambda pids, number: None)
    with subprocess.Popen(["sleep", "60"], env={**os.environ, trees.MARKER: "immortal"}) as process:
        wait_for(lambda: trees.marked("immortal"))
        assert trees.kill_marked("immortal", within_s=0.05) == [process.pid]
        process.kill()


def test_a_process_that_is_gone_is_no_error() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    trees.send([process.pid], 0)
    assert system.end_descriptor(process.pid) is None


@pytest.mark.linux("the size of a pipe")
def test_a_pipe_keeps_what_an_agent_did_not_wait_for() -> None:
    reading, writing = trees.roomy_pipe()
    try:
        os.set_blocking(writing, False)
        assert os.write(writing, b"x" * 900_000) == 900_000
    finally:
        os.close(reading)
        os.close(writing)


def test_a_stopped_process_is_continued_to_end_by_itself(tmp_path: Path) -> None:
    script = "trap 'exit 7' TERM; : > ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(["sh", "-c", script], cwd=tmp_path)
    try:
        wait_for((tmp_path / "ready").exists)
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: (stat := system.stat(process.pid)) is not None and stat.state == "T")
        trees.terminate([process.pid])
        assert process.wait(60) == 7
    finally:
        process.kill()
        process.wait()


def test_a_child_that_cleared_its_environment_is_ended_with_its_parent(tmp_path: Path) -> None:
    script = "env -i sh -c 'echo $$ > pid; exec sleep 600' & wait"
    marked = {**os.environ, trees.MARKER: str(tmp_path)}
    parent = subprocess.Popen(["sh", "-c", script], cwd=tmp_path, env=marked)
    pid = tmp_path / "pid"
    wait_for(lambda: pid.exists() and pid.read_text().strip())
    assert trees.kill_marked(str(tmp_path)) == []
    parent.wait()
    wait_for(lambda: is_gone(int(pid.read_text())))  # the system ends it a moment later
