"""What /proc says of processes."""

import os
import subprocess
import sys
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


FOREIGN = """
import os, sys
from rookery.process import liveness, proc, trees
assert os.getpid() == 1
sys.exit(
    proc.is_available()
    or bool(proc.pids())
    or proc.stat(1) is not None
    or liveness.start_ticks(1) is not None
    or trees.marked({marker!r}) != []
    or trees.descendants(1) != []
    or trees.tree(1, 4) != [-4]
    or not any("/proc" in line for line in trees.promises())
)
"""
UNSHARE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]


def can_unshare() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not can_unshare(), reason="PID namespaces are not permitted here")
def test_the_processes_of_another_namespace_are_strangers(tmp_path: Path) -> None:
    environment = {**os.environ, "ROOKERY_RUN": str(tmp_path)}
    code = FOREIGN.format(marker=str(tmp_path))
    with subprocess.Popen(["sleep", "600"], env=environment) as stranger:
        try:
            subprocess.run([*UNSHARE, sys.executable, "-c", code], check=True)
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_proc_that_shows_another_process_as_ours_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for pid in (os.getpid(), 1):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_bytes(Path(f"/proc/{pid}/stat").read_bytes())
    monkeypatch.setattr(proc, "_PROC", str(tmp_path))
    (tmp_path / "self").symlink_to(str(os.getpid()))
    assert (proc.is_available(), sorted(proc.pids())) == (True, sorted({1, os.getpid()}))
    (tmp_path / "self").unlink()
    (tmp_path / "self").symlink_to("1")
    assert (proc.is_available(), proc.pids(), proc.stat(1)) == (False, [], None)
