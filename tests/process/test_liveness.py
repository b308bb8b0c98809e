"""Whether a process lives, and is the one that was meant."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.process.liveness import is_alive, is_same_process, start_ticks
from nightrook.process.systems.this_system import system
from tests.store.samples import run_python


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until its input ends."""
    with run_python("import sys; print(flush=True); sys.stdin.read()") as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def show_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be on a system that shows no processes."""
    monkeypatch.setattr(system, "is_available", lambda: False)
    monkeypatch.setattr(system, "stat", lambda pid: None)


def test_a_process_lives_until_it_is_killed(process: "subprocess.Popen[bytes]") -> None:
    ticks = start_ticks(process.pid)
    assert ticks is not None
    assert is_alive(process.pid, ticks)
    assert is_alive(process.pid, None)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(process.pid, ticks), "a zombie is dead"
    process.wait()
    assert not is_alive(process.pid, ticks)
    assert not is_alive(process.pid, None)
    assert start_ticks(process.pid) is None


def test_another_process_with_the_same_number_is_not_the_one_meant(
    process: "subprocess.Popen[bytes]",
) -> None:
    ticks = start_ticks(process.pid)
    assert ticks is not None
    assert not is_alive(process.pid, ticks + 10)  # some systems round


def test_a_process_without_a_recorded_start_is_not_taken_for_the_one_meant(
    process: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_same_process(process.pid, start_ticks(process.pid))
    assert not is_same_process(process.pid, None)
    show_no_processes(monkeypatch)
    assert is_same_process(process.pid, None)


def test_a_stopped_process_is_alive(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGSTOP)
    assert is_alive(process.pid, start_ticks(process.pid))
    process.send_signal(signal.SIGCONT)


def test_a_process_that_the_system_does_not_show_is_asked_by_a_signal(
    process: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    show_no_processes(monkeypatch)
    assert start_ticks(process.pid) is None
    assert is_alive(process.pid, None)
    process.kill()
    process.wait()
    assert not is_alive(process.pid, None)


def test_a_process_that_may_not_be_asked_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    show_no_processes(monkeypatch)
    monkeypatch.setattr(os, "kill", forbidden)
    assert is_alive(1, None)


@pytest.mark.parametrize("is_shown", [True, False])
@pytest.mark.parametrize("pid", [0, -1, -(2**31), 2**40])
def test_a_number_that_can_be_no_process_is_dead(
    pid: int, is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_shown:
        show_no_processes(monkeypatch)
    assert not is_alive(pid, None)


def test_a_process_whose_name_holds_brackets_and_blanks_tells_its_start(tmp_path: Path) -> None:
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE) as process:
        assert (start_ticks(process.pid) or 0) >= (start_ticks(os.getpid()) or 0) > 0
