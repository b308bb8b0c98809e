"""What /proc says of processes, and what Linux offers to end them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nightrook.process import trees
from nightrook.process.systems import linux
from tests.frozen.rook import ROOT
from tests.process.recording import is_gone, wait_for

pytestmark = pytest.mark.linux("the module for Linux")


def test_our_own_process_is_described() -> None:
    found = linux.stat(os.getpid())
    assert found is not None
    assert (found.parent, found.is_alive) == (os.getppid(), True)
    assert os.getpid() in linux.pids()
    assert b"PATH=" in (linux.environment(os.getpid()) or b"")


def test_a_zombie_has_ended() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        found = linux.stat(process.pid)
        assert found is not None
        assert not found.is_alive


def test_a_process_that_is_gone_has_no_description() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert linux.stat(process.pid) is None
    assert linux.environment(process.pid) is None


def test_our_open_files_are_listed(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        assert file.fileno() in linux.open_files()


def test_the_process_that_holds_a_connection_is_found_first_among_likely_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        ends = client.getsockname(), server.getsockname()
        assert linux.holders(*ends) == [os.getpid()]
        assert linux.holders(*ends, likely=[os.getppid()]) == [os.getpid()]
        monkeypatch.setattr(linux, "pids", list)
        assert linux.holders(*ends, likely=[os.getppid(), os.getpid()]) == [os.getpid()]
        assert linux.holders(*ends) == []


def test_a_system_without_proc_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(linux, "_PROC", str(tmp_path / "none"))
    assert not linux.is_available()
    assert (linux.pids(), linux.stat(os.getpid()), linux.open_files()) == ([], None, [])


def test_no_other_module_reads_it() -> None:
    source = ROOT / "src" / "nightrook"
    readers = {path for path in source.rglob("*.py") if '"/proc' in path.read_text("utf-8")}
    of_machine = {"fleet/accounts/check.py", "archive/watch/file_changes.py"}  # not of processes
    assert readers == {source / name for name in ("process/systems/linux.py", *of_machine)}


FOREIGN = """
import os, sys
from nightrook.process import liveness, trees
from nightrook.process.systems import linux
assert os.getpid() == 1
sys.exit(
    linux.is_available()
    or bool(linux.pids())
    or linux.stat(1) is not None
    or liveness.start_ticks(1) is not None
    or trees.marked({marker!r}) != []
    or trees.descendants(1) != []
    or linux.Tree(4, b"").pids() != [-4]
    or not any("/proc" in line for line in linux.problems())
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
    environment = {**os.environ, "ROOK_RUN": str(tmp_path)}
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
    monkeypatch.setattr(linux, "_PROC", str(tmp_path))
    (tmp_path / "self").symlink_to(str(os.getpid()))
    assert (linux.is_available(), sorted(linux.pids())) == (True, sorted({1, os.getpid()}))
    (tmp_path / "self").unlink()
    (tmp_path / "self").symlink_to("1")
    assert (linux.is_available(), linux.pids(), linux.stat(1)) == (False, [], None)


def test_a_usual_linux_misses_nothing() -> None:
    assert linux.problems() == []
    assert linux.WEAKER == ()


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(linux, "_PROC", str(tmp_path))
    monkeypatch.delattr(os, "pidfd_open")
    said = " · ".join(linux.problems())
    assert "/proc" in said
    assert "pidfd" in said
    assert linux.end_descriptor(1) is None
    assert trees.descendants(1) == []
    assert trees.marked("x") == []


def test_without_proc_a_whole_process_group_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = "sleep 60 & echo $! > pid; wait"
    with subprocess.Popen(["sh", "-c", script], cwd=tmp_path, start_new_session=True) as leader:
        wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        monkeypatch.setattr(linux, "_PROC", str(tmp_path))
        trees.terminate(trees.tree_of(leader.pid, str(tmp_path)).pids())
        leader.wait()
        wait_for(lambda: is_gone(int((tmp_path / "pid").read_text())))
