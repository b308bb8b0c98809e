"""The recorder, with real processes: every byte, the truth about the end, and nobody left."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightrook.model.errors import NightrookError
from nightrook.process import isolated_python, trees
from tests.process.recording import finish, is_gone, python, record, start, wait_for


def pids_in(folder: Path, count: int) -> list[int]:
    """The process ids that a script has written, one a file."""
    found = [int(p.read_text()) for p in folder.glob("pid.*") if p.read_text().strip()]
    return found if len(found) >= count else []


def test_every_byte_and_the_exit_code_are_recorded(tmp_path: Path) -> None:
    told = record(tmp_path, ["sh", "-c", "printf 'a\\nb'; printf err >&2; exit 3"])
    assert (tmp_path / "stdout.raw").read_bytes() == b"a\nb"
    assert (tmp_path / "stderr.raw").read_bytes() == b"err"
    assert (told["started"], told["exit_code"], told["signal"]) == (True, 3, None)
    assert (told["stopped_for"], told["survivors"], told["lost_stdout"]) == (None, 0, 0)


def test_arrivals_record_when_which_bytes_came(tmp_path: Path) -> None:
    before = time.time()
    record(tmp_path, ["sh", "-c", "echo one; echo two >&2"])
    lines = (tmp_path / "arrivals").read_text().split("\n")[:-1]
    fields = sorted(line.split()[1:] for line in lines)
    assert fields == [["e", "0", "4"], ["o", "0", "4"]]
    assert all(before <= float(line.split()[0]) <= time.time() for line in lines)


@pytest.mark.parametrize("umask", [0, 0o777])
def test_all_files_are_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        record(tmp_path, ["sh", "-c", "umask"])
    finally:
        os.umask(before)
    names = ("stdout.raw", "stderr.raw", "arrivals", "exit.json")
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in names} == {0o600}
    assert (tmp_path / "recorder.log").stat().st_mode & 0o077 == 0
    assert int((tmp_path / "stdout.raw").read_text(), 8) == umask


@pytest.mark.parametrize(
    ("command", "complaint", "missing"),
    [
        (
            ["/nonexistent/agent"],
            "program '/nonexistent/agent' was not found",
            "/nonexistent/agent",
        ),
        (["/etc/passwd"], "no permission to execute '/etc/passwd'", None),
        (["xxxxxxxxxx"], "program 'xxxxxxxxxx' was not found", "xxxxxxxxxx"),
        (["sh", "x" * 200_000], "its arguments are too long for this system", None),
        (["a\0b"], "it could not be started: embedded null byte", None),
    ],
)
def test_a_program_that_cannot_start_is_reported_with_the_reason(
    tmp_path: Path, command: list[str], complaint: str, missing: str | None
) -> None:
    told = record(tmp_path, command)
    assert told["started"] is False
    assert (told["complaint"], told["missing_program"]) == (complaint, missing)


def test_a_file_that_is_not_a_program_is_reported(tmp_path: Path) -> None:
    fake = tmp_path / "agent"
    fake.write_bytes(b"\0\1\2")
    fake.chmod(0o755)
    told = record(tmp_path, [str(fake)])
    assert told["started"] is False
    assert "is not a program" in told["complaint"]


def test_a_log_that_cannot_be_opened_is_reported_before_the_agent_starts(tmp_path: Path) -> None:
    (tmp_path / "stderr.raw").symlink_to("elsewhere")
    told = record(tmp_path, ["touch", "begun"])
    assert told["started"] is False
    assert told["complaint"].startswith("stderr.raw cannot be written")
    assert not (tmp_path / "begun").exists()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    told = record(tmp_path, ["true"], cwd=str(tmp_path / "gone"))
    assert "the working folder" in told["complaint"]


def test_the_signal_that_ended_the_agent_is_recorded(tmp_path: Path) -> None:
    told = record(tmp_path, ["sh", "-c", "kill -9 $$"])
    assert (told["exit_code"], told["signal"]) == (None, signal.SIGKILL)


def test_standard_input_is_empty_unless_a_prompt_or_pipe_is_given(tmp_path: Path) -> None:
    record(tmp_path, ["cat"])
    assert (tmp_path / "stdout.raw").read_bytes() == b""


def test_a_saved_prompt_is_passed_by_standard_input(tmp_path: Path) -> None:
    prompt = b"x" * 1_000_000
    (tmp_path / "stdin.raw").write_bytes(prompt)
    record(tmp_path, ["cat"], stdin="file")
    assert (tmp_path / "stdout.raw").read_bytes() == prompt


def test_a_pipe_that_the_runner_holds_is_passed_to_the_agent(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    recorder = start(tmp_path, ["cat"], stdin=reading)
    os.close(reading)
    os.write(writing, b"asked")
    os.close(writing)
    finish(recorder, tmp_path)
    assert (tmp_path / "stdout.raw").read_bytes() == b"asked"


def test_the_agent_carries_the_run_s_marker(tmp_path: Path) -> None:
    record(tmp_path, ["sh", "-c", f"echo ${trees.MARKER}"])
    assert (tmp_path / "stdout.raw").read_text().strip() == str(tmp_path)


def test_a_grandchild_that_holds_the_pipe_cannot_hang_us(tmp_path: Path) -> None:
    script = (
        "setsid sh -c 'echo $$ > pid.1; sleep 1000' & while [ ! -s pid.1 ]; do :; done; echo done"
    )
    told = record(tmp_path, ["sh", "-c", script])  # which waits less long than the grandchild
    assert told["exit_code"] == 0
    assert (tmp_path / "stdout.raw").read_bytes() == b"done\n"
    assert all(is_gone(pid) for pid in pids_in(tmp_path, 1))


def test_a_flood_on_stderr_does_not_stop_stdout(tmp_path: Path) -> None:
    code = "import os; os.write(2, b'e' * 5_000_000); os.write(1, b'done')"
    code = "import sys; sys.stderr.write('e' * 5_000_000); sys.stdout.write('done')"
    record(tmp_path, python(code))
    assert (tmp_path / "stderr.raw").stat().st_size == 5_000_000
    assert (tmp_path / "stdout.raw").read_bytes() == b"done"


def test_a_large_stream_is_recorded_byte_for_byte(tmp_path: Path) -> None:
    code = (
        "import sys, hashlib\n"
        "h = hashlib.sha256(); out = sys.stdout.buffer\n"
        "for n in range(3000):\n"
        "    data = b'%08d' % n * 1250 + b'\\n'\n"
        "    h.update(data); out.write(data)\n"
        "sys.stderr.write(h.hexdigest())\n"
    )
    record(tmp_path, python(code))
    kept = hashlib.sha256((tmp_path / "stdout.raw").read_bytes()).hexdigest()
    assert kept == (tmp_path / "stderr.raw").read_text()


def test_the_deadline_holds(tmp_path: Path) -> None:
    told = record(tmp_path, ["sleep", "100"], deadline_s=0.2)
    assert told["stopped_for"] == "timed_out"
    assert told["signal"] == signal.SIGTERM


def test_an_agent_that_ignores_requests_to_end_is_killed(tmp_path: Path) -> None:
    script = "trap '' TERM INT; echo ready; while :; do sleep 0.05; done"
    recorder = start(tmp_path, ["sh", "-c", script])
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    recorder.stop("interrupted")
    told = finish(recorder, tmp_path)
    assert (told["stopped_for"], told["signal"]) == ("interrupted", signal.SIGKILL)


def test_an_agent_is_asked_before_it_is_killed(tmp_path: Path) -> None:
    script = "trap 'rm lock; exit 0' TERM; touch lock; echo ready; while :; do sleep 0.02; done"
    recorder = start(tmp_path, ["sh", "-c", script], grace_s=5.0)
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    recorder.stop("interrupted")
    assert finish(recorder, tmp_path)["exit_code"] == 0
    assert not (tmp_path / "lock").exists()


def test_a_stopped_agent_is_woken_to_end(tmp_path: Path) -> None:
    recorder = start(tmp_path, ["sh", "-c", "echo ready; kill -STOP $$"])
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    recorder.stop("stuck")
    assert finish(recorder, tmp_path)["survivors"] == 0


def test_an_agent_that_signals_its_own_group_does_not_reach_its_recorder(tmp_path: Path) -> None:
    ended = record(tmp_path, ["sh", "-c", "echo out; kill -KILL 0"])
    assert (ended["signal"], ended["stopped_for"]) == (signal.SIGKILL, None)
    assert (tmp_path / "stdout.raw").read_text() == "out\n"


LAST_WORDS = """
import os, signal, sys, time
def end(*_):
    open("ending", "w").close()
    while not os.path.exists("go"): time.sleep(0.01)
    os.write(1, b"x" * 300_000)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True: time.sleep(600)
"""


@pytest.mark.linux("the size of a pipe")
def test_what_an_agent_wrote_while_it_was_stopped_is_read_after_its_end(tmp_path: Path) -> None:
    recorder = start(tmp_path, python(LAST_WORDS), grace_s=600.0)
    log = tmp_path / "stdout.raw"
    wait_for(lambda: log.exists() and log.read_bytes())
    recorder.stop("interrupted")
    wait_for((tmp_path / "ending").exists)
    (agent,) = trees.marked(str(tmp_path))
    os.kill(recorder.pid, signal.SIGSTOP)  # so that it is behind when the agent ends
    (tmp_path / "go").touch()
    wait_for(lambda: is_gone(agent))
    os.kill(recorder.pid, signal.SIGCONT)
    finish(recorder, tmp_path)
    assert log.stat().st_size == 300_000 + len("ready\n")


TREE = """
import os, sys, time, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
until = time.monotonic() + 600  # longer than a test waits for anything
def note():
    with open(f"pid.{os.getpid()}", "w") as file: file.write(str(os.getpid()))
for n in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note()
            while time.monotonic() < until:
                pid = os.fork()
                if pid == 0:
                    os.setsid(); note(); time.sleep(5); os._exit(0)
                time.sleep(0.05)
            os._exit(0)
        os._exit(0)
note(); print("ready", flush=True)
time.sleep(600)
"""


def test_a_tree_of_forking_daemons_is_ended_completely(tmp_path: Path) -> None:
    recorder = start(tmp_path, python(TREE))
    wait_for(lambda: pids_in(tmp_path, 6))
    recorder.stop("interrupted")
    assert finish(recorder, tmp_path)["survivors"] == 0
    assert [pid for pid in pids_in(tmp_path, 6) if not is_gone(pid)] == []


def test_daemons_that_outlive_the_agent_are_ended(tmp_path: Path) -> None:
    script = "setsid sh -c 'trap \"\" TERM; echo $$ > pid.1; exec >/dev/null 2>&1; sleep 100' &"
    told = record(tmp_path, ["sh", "-c", script + " while [ ! -s pid.1 ]; do :; done"])
    assert (told["exit_code"], told["survivors"]) == (0, 0)
    assert all(is_gone(pid) for pid in pids_in(tmp_path, 1))


STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
os.close(1), os.close(2)
with open("pid.1", "w") as file: file.write(str(os.getpid()))
time.sleep(1000)
"""


def test_kill_works_while_a_daemon_has_time_to_end(tmp_path: Path) -> None:
    recorder = start(tmp_path, python(STUBBORN), grace_s=1000.0)
    wait_for(lambda: pids_in(tmp_path, 1))
    recorder.kill("interrupted")
    told = finish(recorder, tmp_path)  # which does not wait as long as the daemon may
    assert (told["exit_code"], told["stopped_for"], told["survivors"]) == (0, None, 0)


def test_children_of_an_agent_that_is_stopped_have_time_to_clean_up(tmp_path: Path) -> None:
    child = "trap 'sleep 0.3; rm lock; exit' TERM; touch lock; while :; do sleep 0.02; done"
    script = f"trap 'exit 0' TERM; setsid sh -c \"{child}\" & while :; do sleep 0.02; done"
    recorder = start(tmp_path, ["sh", "-c", script], grace_s=20.0)
    wait_for(lambda: (tmp_path / "lock").exists())
    recorder.stop("interrupted")
    assert finish(recorder, tmp_path)["survivors"] == 0
    assert not (tmp_path / "lock").exists()


IMMORTAL = """
from nightrook.process import trees
from nightrook.process import recorder
trees.send = lambda pids, number: None
recorder._HOPELESS_S = 0.2
main()
"""


def test_an_agent_that_survives_sigkill_is_counted_as_a_survivor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        isolated_python, "_BOOT", isolated_python._BOOT.replace("main()\n", IMMORTAL)
    )
    recorder = start(tmp_path, ["sh", "-c", "echo ready; sleep 60; :"])
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    recorder.kill("interrupted")
    try:
        told = finish(recorder, tmp_path)
    finally:
        trees.kill_marked(str(tmp_path))
    assert (told["exit_code"], told["signal"]) == (None, None)
    assert (told["stopped_for"], told["survivors"]) == ("interrupted", 2)


SLOW_DISK = """
import os, time
real = os.fsync
def fsync(fd):
    name = os.readlink(f"/proc/self/fd/{fd}")
    while name.endswith("stdout.raw") and not os.path.exists(os.path.dirname(name) + "/go"):
        time.sleep(0.01)
    with open(os.path.dirname(name) + "/synced", "a") as file: file.write(name + "\\n")
    real(fd)
os.fsync = fsync
"""


def test_a_slow_disk_does_not_stall_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_python, "_BOOT", SLOW_DISK + isolated_python._BOOT)
    log = tmp_path / "stdout.raw"
    script = "echo one; while [ ! -e told ]; do sleep 0.02; done; echo two"
    recorder = start(tmp_path, ["sh", "-c", script])
    wait_for(lambda: log.exists() and log.read_bytes())
    recorder.sync()
    (tmp_path / "told").touch()
    wait_for(lambda: log.read_bytes() == b"one\ntwo\n")
    (tmp_path / "go").touch()
    finish(recorder, tmp_path)


def test_everything_recorded_is_on_disk_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_python, "_BOOT", SLOW_DISK + isolated_python._BOOT)
    (tmp_path / "go").touch()
    record(tmp_path, ["sh", "-c", "echo out; echo err >&2"])
    synced = (tmp_path / "synced").read_text().split()
    assert {str(tmp_path / "stdout.raw"), str(tmp_path / "stderr.raw")} <= set(synced)


def test_what_an_agent_wrote_is_on_disk_while_it_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_python, "_BOOT", SLOW_DISK + isolated_python._BOOT)
    (tmp_path / "go").touch()
    script = "echo one; until grep -q stdout.raw synced 2>/dev/null; do sleep 0.05; done"
    assert record(tmp_path, ["sh", "-c", script])["exit_code"] == 0


HOST = """
import sys
sys.path[:0] = [{root!r}, {source!r}]
from pathlib import Path
from tests.process.recording import start, python
from tests.process.test_recorder import TREE
recorder = start(Path({folder!r}), python(TREE))
print(recorder.pid, flush=True)
import time; time.sleep(600)
"""


@pytest.mark.parametrize("victim", ["runner", "recorder"])
def test_no_process_is_left_when_runner_or_recorder_is_killed(tmp_path: Path, victim: str) -> None:
    root = Path(__file__).parent.parent.parent
    code = HOST.format(root=str(root), source=str(root / "src"), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        recorder = int(host.stdout.readline())
        wait_for(lambda: pids_in(tmp_path, 6))
        os.kill(host.pid if victim == "runner" else recorder, signal.SIGKILL)
        if victim == "recorder":
            wait_for(lambda: is_gone(recorder))
            trees.kill_marked(str(tmp_path))  # as the runner or the next command does
        wait_for(lambda: not trees.marked(str(tmp_path)))
        wait_for(lambda: all(is_gone(pid) for pid in pids_in(tmp_path, 6)))
        host.kill()
    assert trees.marked(str(tmp_path)) == []


def test_sigterm_to_the_recorder_stops_the_agent(tmp_path: Path) -> None:
    recorder = start(tmp_path, ["sh", "-c", "echo ready; sleep 100"])
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    os.kill(recorder.pid, signal.SIGTERM)
    assert finish(recorder, tmp_path)["stopped_for"] == "stopped"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_loses_bytes_but_stalls_nothing_and_is_reported(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        code = "import sys; sys.stdout.write('x' * 3_000_000); sys.stderr.write('ended')"
        told = record(disk, python(code), cwd="/")
        kept = (disk / "stdout.raw").stat().st_size
        assert told["exit_code"] == 0
        assert kept + told["lost_stdout"] == 3_000_000
        assert told["lost_stdout"] > 1_000_000
        assert (disk / "stdout.raw").read_bytes() == b"x" * kept
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_no_more_than_the_limit_is_recorded_and_the_agent_continues(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('e' * 300); sys.stderr.flush()\n"
    code += "sys.stdout.write('x' * 500_000); sys.stdout.flush(); open('ended', 'w')"
    told = record(tmp_path, python(code), max_log_size=100_000)
    sizes = [(tmp_path / name).stat().st_size for name in ("stdout.raw", "stderr.raw")]
    assert (tmp_path / "ended").exists()
    assert (told["exit_code"], told["log_limit"]) == (0, 100_000)
    assert sum(sizes) == 100_000
    assert sum(sizes) + told["lost_stdout"] + told["lost_stderr"] == 500_300
    assert told["logs"]["stdout"]["size"] == sizes[0]


def test_output_within_the_limit_is_recorded_whole(tmp_path: Path) -> None:
    told = record(tmp_path, python("print('x' * 99_999)"), max_log_size=100_000)
    assert (told["log_limit"], told["lost_stdout"]) == (None, 0)
    assert (tmp_path / "stdout.raw").stat().st_size == 100_000


def test_the_size_and_the_hash_of_what_was_written_are_recorded(tmp_path: Path) -> None:
    told = record(tmp_path, ["sh", "-c", "printf abc; printf err >&2"])
    assert told["logs"] == {
        "stdout": {"size": 3, "sha256": hashlib.sha256(b"abc").hexdigest()},
        "stderr": {"size": 3, "sha256": hashlib.sha256(b"err").hexdigest()},
    }


def test_bytes_that_another_process_appends_neither_move_nor_join_the_recorded_ones(
    tmp_path: Path,
) -> None:
    script = (
        "echo one; while [ ! -s stdout.raw ]; do :; done; printf forged >> stdout.raw; echo two"
    )
    told = record(tmp_path, ["sh", "-c", script])
    assert told["logs"]["stdout"]["size"] == 8
    assert told["logs"]["stdout"]["sha256"] == hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert (tmp_path / "stdout.raw").read_bytes() == b"one\ntwo\ned"


@pytest.mark.parametrize("name", ["stdout.raw", "stderr.raw", "arrivals"])
def test_a_fifo_in_the_place_of_a_log_does_not_block_the_recorder(
    tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / name)
    told = record(tmp_path, ["touch", "begun"])
    assert told["complaint"].startswith(f"{name} cannot be written")
    assert not (tmp_path / "begun").exists()


def test_a_fifo_in_the_place_of_the_prompt_does_not_block_the_recorder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "stdin.raw")
    told = record(tmp_path, ["cat"], stdin="file")
    assert told["complaint"] == "stdin.raw cannot be read: is not a plain file"


def test_a_fifo_in_the_place_of_the_recorder_s_own_log_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "recorder.log")
    with pytest.raises(NightrookError, match="the recorder cannot start"):
        start(tmp_path, ["true"])


def test_the_processes_that_an_agent_left_running_are_named(tmp_path: Path) -> None:
    child = "echo $$ > pid.1; exec >/dev/null 2>&1; exec sleep 600"
    script = f"setsid sh -c '{child}' & while [ ! -s pid.1 ]; do :; done"
    script += "; while [ $(cat /proc/$(cat pid.1)/comm) != sleep ]; do :; done"
    assert record(tmp_path, ["sh", "-c", script])["left_behind"] == ["sleep"]


def test_an_agent_that_was_stopped_left_nothing_behind(tmp_path: Path) -> None:
    recorder = start(tmp_path, ["sh", "-c", "sleep 600 & echo ready; wait"])
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    recorder.stop("interrupted")
    assert finish(recorder, tmp_path)["left_behind"] == []


@pytest.mark.linux("oom_score_adj")
def test_an_agent_is_ended_before_its_recorder_when_memory_is_short(tmp_path: Path) -> None:
    script = "cat /proc/self/oom_score_adj; while [ ! -e go ]; do sleep 0.02; done"
    recorder = start(tmp_path, ["sh", "-c", script])
    wait_for(lambda: (tmp_path / "stdout.raw").exists() and (tmp_path / "stdout.raw").read_bytes())
    own = int(Path("/proc/self/oom_score_adj").read_text())
    assert int(Path(f"/proc/{recorder.pid}/oom_score_adj").read_text()) == own
    (tmp_path / "go").touch()
    finish(recorder, tmp_path)
    assert int((tmp_path / "stdout.raw").read_text()) == min(own + 300, 1000)
