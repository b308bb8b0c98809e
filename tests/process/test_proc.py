"""What /proc says of processes."""

import os
import subprocess
from pathlib import Path

import pytest

from rookery.process import proc
from tests.frozen.rook import ROOT


def test_our_own_process_is_described() -> None:
    found = proc.stat(os.getpid())
    assert found is not None
    assert (found.parent, found.is_alive) == (os.getppid(), True)
    assert os.getpid() in proc.pids()
    assert b"PATH=" in (proc.environment(os.getpid()) or b"")


def test_a_zombie_has_ended() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        found = proc.stat(process.pid)
        assert found is not None
        assert not found.is_alive


def test_a_process_that_is_gone_has_no_description() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert proc.stat(process.pid) is None
    assert proc.environment(process.pid) is None


def test_our_open_files_are_listed(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        assert file.fileno() in proc.open_files()


def test_a_system_without_proc_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(proc, "_PROC", str(tmp_path / "none"))
    assert not proc.is_available()
    assert (proc.pids(), proc.stat(os.getpid()), proc.open_files()) == ([], None, [])


def test_no_other_module_reads_it() -> None:
    source = ROOT / "src" / "rookery"
    readers = {path for path in source.rglob("*.py") if '"/proc' in path.read_text("utf-8")}
    assert readers == {source / "process" / "proc.py"}
