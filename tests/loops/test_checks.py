"""Check commands: real processes."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightrook.loops.checks import run_check
from nightrook.loops.state import Check
from nightrook.process.liveness import is_alive


def gone(pid: int) -> bool:
    """Whether a killed process ends, as it does a moment later."""
    patience = time.monotonic() + 120
    while is_alive(pid, None) and time.monotonic() < patience:
        time.sleep(0.01)
    return not is_alive(pid, None)


def check(command: str, cwd: Path, timeout_s: float = 60) -> Check:
    return asyncio.run(run_check(command, cwd=str(cwd), timeout_s=timeout_s, marker=str(cwd)))


@pytest.mark.parametrize(("command", "code"), [("true", 0), ("exit 3", 3), ("kill -9 $$", -9)])
def test_its_exit_code_decides(command: str, code: int, tmp_path: Path) -> None:
    done = check(command, tmp_path)
    assert (done.ok, done.exit_code) == (code == 0, code)


def test_both_of_its_outputs_are_kept_in_order(tmp_path: Path) -> None:
    assert check("echo a; echo b >&2; pwd", tmp_path).output == f"a\nb\n{tmp_path}\n"


def test_of_a_long_output_the_end_is_kept(tmp_path: Path) -> None:
    output = check("seq 1 200000; echo last", tmp_path).output
    assert len(output) <= 64 * 1024
    assert output.endswith("200000\nlast\n")


def test_it_reads_nothing_of_ours(tmp_path: Path) -> None:
    assert check("cat", tmp_path).ok


def test_one_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    done = check("sleep 600 & echo $! > pid; wait", tmp_path, timeout_s=0.5)
    assert not done.ok
    assert (done.exit_code, done.stopped) == (None, "timed_out")
    assert "timed out after 0.5 s" in done.output
    assert gone(int((tmp_path / "pid").read_text()))


def test_what_it_leaves_behind_cannot_hold_it_up(tmp_path: Path) -> None:
    done = check("sleep 600 & echo $! > pid; exit 0", tmp_path, timeout_s=30)
    assert (tmp_path / "pid").exists()
    assert done.duration_s < 25
    assert gone(int((tmp_path / "pid").read_text()))


def test_output_that_is_not_text_is_made_text(tmp_path: Path) -> None:
    assert check(r"printf '\377\000'", tmp_path).output == "\ufffd\0"


def test_a_process_that_leaves_its_session_and_group_is_ended_too(tmp_path: Path) -> None:
    done = check(
        "setsid sh -c 'echo $$ > pid; exec sleep 600' & until [ -s pid ]; do :; done", tmp_path
    )
    assert done.ok
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_missing_folder_is_a_failed_check(tmp_path: Path) -> None:
    done = check("true", tmp_path / "gone")
    assert (done.ok, done.exit_code) == (False, None)
    assert "cannot run" in done.output


CHECKS = """
import asyncio, sys
from nightrook.loops.checks import run_check

asyncio.run(run_check(sys.argv[1], cwd=sys.argv[2], timeout_s=600, marker=sys.argv[2]))
"""


def test_it_ends_with_the_loop_even_if_that_is_killed(tmp_path: Path) -> None:
    command = "setsid sleep 600 & echo $! > child; echo $$ > pid; wait"
    runner = subprocess.Popen([sys.executable, "-c", CHECKS, command, str(tmp_path)])
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip()):
        assert runner.poll() is None
        time.sleep(0.01)
    runner.kill()
    runner.wait()
    assert gone(int((tmp_path / "pid").read_text()))
    assert gone(int((tmp_path / "child").read_text()))


def test_a_check_that_kills_its_guard_has_failed_and_is_ended(tmp_path: Path) -> None:
    done = check("sleep 600 & echo $! > child; kill -9 $PPID; sleep 600", tmp_path)
    assert (done.ok, done.exit_code) == (False, None)
    assert gone(int((tmp_path / "child").read_text()))


def test_what_a_killed_guard_left_behind_is_ended_by_the_next_check(tmp_path: Path) -> None:
    marked = {**os.environ, "ROOK_RUN": str(tmp_path)}
    left = subprocess.Popen(["sleep", "600"], env=marked)
    assert check("true", tmp_path).ok
    assert left.wait() == -9
