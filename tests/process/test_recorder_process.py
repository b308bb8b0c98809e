"""Recorders that are stopped, hang or die: none of them holds up the runner."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nightrook.process import isolated_python, recorder_process, trees
from tests.process.recording import finish, is_gone, python, start, wait_for

ROOT = Path(__file__).parent.parent.parent
READY = "import os, time; open('pid.1', 'w').write(str(os.getpid())); time.sleep(600)"
DEAF = """
from nightrook.process.recorder import Recorder
Recorder._obey = lambda self: self._poll.unregister(0)
main()
"""


def agent_of(folder: Path) -> int:
    """The process id of an agent that has written it."""
    path = folder / "pid.1"
    wait_for(lambda: path.exists() and path.read_text())
    return int(path.read_text())


def hangs(recorder: recorder_process.RecorderProcess) -> bool:
    return recorder.is_unresponsive


@pytest.mark.parametrize("command", ["stop", "kill"])
def test_a_stopped_recorder_is_continued_to_obey(tmp_path: Path, command: str) -> None:
    recorder = start(tmp_path, python(READY))
    agent = agent_of(tmp_path)
    os.kill(recorder.pid, signal.SIGSTOP)
    getattr(recorder, command)("interrupted")
    assert finish(recorder, tmp_path)["stopped_for"] == "interrupted"
    wait_for(lambda: is_gone(agent))


def test_a_command_that_was_answered_is_no_sign_of_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + READY
    recorder = start(tmp_path, python(script), grace_s=600.0)
    agent_of(tmp_path)
    recorder.stop("interrupted")
    wait_for(lambda: b"!" in (recorder.hear() or b""), recorder.bell)
    monkeypatch.setattr(recorder_process, "_ANSWER_S", -1.0)
    assert not hangs(recorder)
    recorder.kill("interrupted")
    assert hangs(recorder)
    finish(recorder, tmp_path)


def test_a_recorder_that_hangs_is_killed_and_its_agent_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = isolated_python._BOOT.replace("main()\n", DEAF)
    monkeypatch.setattr(isolated_python, "_BOOT", boot)
    monkeypatch.setattr(recorder_process, "_ANSWER_S", 0.1)
    recorder = start(tmp_path, python(READY))
    agent = agent_of(tmp_path)
    assert not hangs(recorder)
    recorder.stop("interrupted")
    wait_for(lambda: recorder.is_unresponsive)
    recorder.abandon()
    wait_for(lambda: recorder.hear() is None, recorder.bell)
    recorder.close()
    wait_for(lambda: is_gone(agent))


def test_closing_does_not_wait_for_a_recorder_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = isolated_python._BOOT.replace("main()\n", DEAF)
    monkeypatch.setattr(isolated_python, "_BOOT", boot)
    monkeypatch.setattr(recorder_process, "_END_S", 0.1)
    recorder = start(tmp_path, python(READY))
    agent = agent_of(tmp_path)
    recorder.close()
    wait_for(lambda: is_gone(agent) and is_gone(recorder.pid))


def test_commands_to_a_stopped_recorder_never_wait(tmp_path: Path) -> None:
    recorder = start(tmp_path, python(READY))
    agent_of(tmp_path)
    os.kill(recorder.pid, signal.SIGSTOP)
    for _ in range(50_000):  # more than a pipe holds
        recorder.sync()
    recorder.kill("interrupted")
    recorder.close()
    recorder.stop("interrupted")  # to nobody


def test_a_recorder_that_dies_at_once_has_started_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_python, "_BOOT", "raise OSError('no space for it')")
    recorder = start(tmp_path, python(READY))
    wait_for(lambda: recorder.hear() is None, recorder.bell)
    recorder.close()
    assert not recorder.has_started
    assert "no space for it" in (tmp_path / "recorder.log").read_text()


# A process that no marker finds and that the agent is not the parent of.
CLEARED = """
import os, subprocess, sys, time
code = (
    "import os, sys, time\\n"
    "while os.getppid() == int(sys.argv[1]): time.sleep(0.01)\\n"
    "open('pid.2', 'w').write(str(os.getpid())); time.sleep(600)"
)
if os.fork() == 0:
    words = [sys.executable, "-I", "-S", "-c", code, str(os.getpid())]
    subprocess.Popen(words, env={}, start_new_session=True)
    os._exit(0)
time.sleep(600)
"""
HOST = """
import sys
sys.path[:0] = [{root!r}, {source!r}]
import os, signal, subprocess
from pathlib import Path
from nightrook.process import trees
from nightrook.process.systems.this_system import system
from tests.process.recording import start, python, wait_for
folder = Path({folder!r})
if {subreaper}: system.become_subreaper()
recorder = start(folder, python({code!r}))
own = subprocess.Popen(["sleep", "600"])
marked = {{**os.environ, trees.MARKER: "another run"}}
other = subprocess.Popen(["sleep", "600"], env=marked, start_new_session=True)
wait_for(lambda: (folder / "pid.2").exists() and (folder / "pid.2").read_text())
os.kill(recorder.pid, signal.SIGKILL)
wait_for(lambda: recorder.hear() is None, recorder.bell)
recorder.close()
print(own.poll() is None and other.poll() is None)
own.kill(), other.kill()
"""


@pytest.mark.parametrize(
    "subreaper", [pytest.param(True, marks=pytest.mark.linux("the subreaper")), False]
)
def test_a_child_that_cleared_its_environment_is_ended_by_a_runner_that_is_a_subreaper(
    tmp_path: Path, subreaper: bool
) -> None:
    code = HOST.format(
        root=str(ROOT),
        source=str(ROOT / "src"),
        folder=str(tmp_path),
        code=CLEARED,
        subreaper=subreaper,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n", "the runner's own children are left alone"
    child = int((tmp_path / "pid.2").read_text())
    if subreaper:
        wait_for(lambda: is_gone(child))
    else:
        assert not is_gone(child)
        trees.send([child], signal.SIGKILL)


def test_a_signal_to_our_group_does_not_reach_it(tmp_path: Path) -> None:
    recorder = start(tmp_path, ["true"])
    try:
        assert os.getsid(recorder.pid) == os.getpgid(recorder.pid) == recorder.pid
    finally:
        finish(recorder, tmp_path)


@pytest.mark.parametrize("name", ["subprocess", "threading", "select", "json"])
def test_modules_in_the_working_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the project')")
    monkeypatch.chdir(tmp_path)
    assert finish(start(tmp_path, ["true"]), tmp_path)["exit_code"] == 0
