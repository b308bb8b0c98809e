"""Runs whose recorder is attacked, stopped or killed, and runs that are stopped after the end."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from genai_prices import data_snapshot

from nightrook.config.options import RunOptions
from nightrook.display.ending import warnings
from nightrook.model.ending import Ending
from nightrook.model.verdict import Verdict
from nightrook.process import isolated_python, recorder_process
from nightrook.process.liveness import is_stopped
from nightrook.runs import supervisor
from nightrook.runs.attached import ask_to_stop
from nightrook.runs.run import Run
from nightrook.runs.start import start_command
from nightrook.story.integrity import checked_verdict
from tests.process.recording import PATIENCE_S, python
from tests.runs.scripted import play

START = json.dumps({"type": "system", "subtype": "init", "session_id": "s", "model": "m"}) + "\n"
RESULT = (
    json.dumps(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "Done.",
            "session_id": "s",
        }
    )
    + "\n"
)
HEAD = f"""
import os, sys, time
start, result = {START!r}, {RESULT!r}
folder = os.environ["ROOK_RUN_DIR"]
stdout, arrivals = folder + "/stdout.raw", folder + "/arrivals"
def say(text):
    sys.stdout.write(text); sys.stdout.flush()
def until(condition):
    while not condition(): time.sleep(0.01)
def forge(path, text):
    with open(path, "a") as file: file.write(text)
"""

During = Callable[[Run], Awaitable[None]]


def run(
    folder: Path,
    code: str,
    during: During | None = None,
    *,
    raw: bool = False,
    max_cost: float | None = None,
    timeout: float | None = None,
) -> Run:
    """Run a program called `claude` that is a piece of Python, to its end."""
    program = folder / "claude"
    program.write_text("#!/bin/sh\nexec " + " ".join(python("x")[:-2]) + f" {folder}/agent.py\n")
    program.chmod(0o755)
    (folder / "agent.py").write_text(HEAD + code)

    async def whole() -> Run:
        options = RunOptions(
            cwd=str(folder), home=str(folder / "home"), max_cost=max_cost, timeout=timeout
        )
        async with start_command([str(program)], options, raw=raw) as run:
            async with asyncio.timeout(PATIENCE_S):
                if during is not None:
                    await during(run)
                await run.wait()
        return run

    return asyncio.run(whole())


def verdict_of(run: Run) -> Verdict:
    assert run.verdict is not None
    return run.verdict


FORGED_AT_THE_END = """
say(start)
until(lambda: os.path.getsize(stdout) == len(start))
forge(stdout, result)
"""
FORGED_AND_REPORTED = """
say(start)
until(lambda: os.path.getsize(stdout) == len(start) and os.path.getsize(arrivals) > 0)
forge(stdout, result)
forge(arrivals, f"1.000000 o {len(start)} {len(result)}\\n")
until(lambda: os.path.exists("seen"))
say(" " * len(result) + "\\n")
"""
IN_THE_MIDDLE = """
say(start); say("x" * len(result) + "\\n")
until(lambda: os.path.getsize(stdout) > len(start) + len(result))
with open(stdout, "r+") as file:
    file.seek(len(start)); file.write(result)
"""


def test_a_forged_result_is_no_success(tmp_path: Path) -> None:
    ended = run(tmp_path, FORGED_AT_THE_END)
    assert (verdict_of(ended).status, ended.exit_code) == ("incomplete", 3)
    assert ended.folder.read_output() is None


def test_a_forged_result_that_was_decoded_and_is_gone_again_is_no_success(tmp_path: Path) -> None:
    async def until_it_is_decoded(run: Run) -> None:
        while not run.state.results:
            await run.feed.more(run.feed.count)
        (tmp_path / "seen").touch()

    ended = run(tmp_path, FORGED_AND_REPORTED, until_it_is_decoded)
    assert (ended.folder.path / "stdout.raw").read_text() == START + " " * len(RESULT) + "\n"
    assert (verdict_of(ended).status, ended.exit_code) == ("incomplete", 3)
    assert verdict_of(ended).facts.recorder.tampered == "stdout.raw is not what the recorder wrote"
    assert ended.folder.read_output() is None


def test_bytes_that_nobody_reported_are_not_decoded(tmp_path: Path) -> None:
    ended = run(tmp_path, FORGED_AT_THE_END)
    assert ended.state.results == []
    size = len(START) + len(RESULT)
    how = f"stdout.raw has {size} bytes, but the recorder wrote {len(START)}"
    assert verdict_of(ended).facts.recorder.tampered == how


def test_a_log_changed_in_the_middle_is_noticed_when_the_run_is_shown(tmp_path: Path) -> None:
    found = checked_verdict(run(tmp_path, IN_THE_MIDDLE).folder)
    assert found is not None
    assert found.status == "incomplete"


@pytest.mark.parametrize("name", ["stdout.raw", "stderr.raw"])
@pytest.mark.parametrize("stranger", ["os.mkfifo(path)", "os.symlink('/dev/zero', path)"])
def test_a_log_replaced_by_something_else_ends_the_run(
    tmp_path: Path, name: str, stranger: str
) -> None:
    code = f"path = folder + '/{name}'; os.unlink(path); {stranger}\n"
    ended = run(tmp_path, code + "say(start); say(result); sys.stderr.write('x')")
    assert verdict_of(ended).status == "incomplete"
    assert name in verdict_of(ended).sentence


@pytest.mark.parametrize("name", ["arrivals", "run.json", "verdict.json", "exit.json", "output.md"])
def test_other_files_replaced_by_a_fifo_do_not_hang_the_run(tmp_path: Path, name: str) -> None:
    code = f"path = folder + '/{name}'\nif os.path.exists(path): os.unlink(path)\nos.mkfifo(path)\n"
    ended = run(tmp_path, code + "say(start); say(result)")
    assert verdict_of(ended).status == "success"
    assert len(ended.state.results) == 1


async def kill_recorder(run: Run) -> None:
    await run.feed.more(0)
    info = run.folder.info()
    assert info is not None
    assert info.recorder_pid is not None
    os.kill(info.recorder_pid, signal.SIGKILL)


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("words", ["start", "'text'"])
def test_a_killed_recorder_is_no_success_and_what_is_lost_is_unknown(
    tmp_path: Path, words: str, raw: bool
) -> None:
    ended = run(tmp_path, f"say({words} + chr(10)); time.sleep(600)", kill_recorder, raw=raw)
    assert (verdict_of(ended).status, ended.exit_code) == ("incomplete", 3)
    assert verdict_of(ended).facts.recorder.lost_bytes is None
    assert "the recorder died" in warnings(Ending.of_run(verdict_of(ended)))[0]


def test_a_plain_text_run_with_a_killed_recorder_is_no_success(tmp_path: Path) -> None:
    ended = play(tmp_path, "hang-in-tool", kill_recorder, stream=False)
    assert verdict_of(ended).status == "incomplete"


async def stop_at_result(run: Run) -> None:
    while not run.state.results:
        await run.feed.more(run.feed.count)
    run.stop(by="SIGHUP")


def test_a_run_that_is_stopped_after_its_result_is_a_success(tmp_path: Path) -> None:
    ended = run(tmp_path, "say(start); say(result); time.sleep(600)", stop_at_result)
    assert (verdict_of(ended).status, ended.exit_code) == ("success", 0)
    facts = verdict_of(ended).facts
    assert (facts.person.stopped_for, facts.person.stopped_by) == ("interrupted", "SIGHUP")
    found = warnings(Ending.of_run(verdict_of(ended)))
    assert "the terminal was closed after the agent had finished" in found[0]


async def stop_stopped_recorder(run: Run) -> None:
    await run.feed.more(0)
    info = run.folder.info()
    assert info is not None
    assert info.recorder_pid is not None
    os.kill(info.recorder_pid, signal.SIGSTOP)
    run.stop(by="SIGINT")


def test_a_stopped_recorder_does_not_hold_up_ctrl_c(tmp_path: Path) -> None:
    ended = run(tmp_path, "say(start); time.sleep(600)", stop_stopped_recorder)
    assert verdict_of(ended).sentence == "interrupted by Ctrl-C, while it waited for the model"


STOPS_ITS_RECORDER = """
import signal
say(start)
os.kill(os.getppid(), signal.SIGSTOP)
"""


def test_a_recorder_that_its_agent_stops_is_continued(tmp_path: Path) -> None:
    ended = run(tmp_path, STOPS_ITS_RECORDER + "say(result)")
    assert verdict_of(ended).status == "success"
    assert verdict_of(ended).facts.recorder.recorder_stopped
    found = warnings(Ending.of_run(verdict_of(ended)))
    assert found == ["something stopped the recorder (SIGSTOP), and rook continued it"]


def test_a_stopped_recorder_does_not_hold_up_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_process.RecorderProcess, "keep_running", lambda _: None)
    monkeypatch.setattr(supervisor, "_LATE_S", 0.1)
    ended = run(tmp_path, STOPS_ITS_RECORDER + "time.sleep(600)", timeout=0.5)
    assert verdict_of(ended).status == "timed_out"


STOPS_IT_FOR_EVER = """
import signal
recorder = os.getppid()
say(start)
while True: os.kill(recorder, signal.SIGSTOP)
"""


def test_a_recorder_that_is_stopped_again_and_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_process, "_LOOK_S", 0.0)
    ended = run(tmp_path, STOPS_IT_FOR_EVER)
    assert verdict_of(ended).status == "incomplete"
    assert verdict_of(ended).facts.recorder.recorder_died


async def ask_with_stopped_recorder(run: Run) -> None:
    while not run.state.records:
        await run.feed.more(run.feed.count)
    info = run.folder.info()
    assert info is not None
    assert info.recorder_pid is not None
    os.kill(info.recorder_pid, signal.SIGSTOP)
    while not is_stopped(info.recorder_pid, info.recorder_ticks):
        await asyncio.sleep(0.01)
    assert ask_to_stop(run.folder) == "its recorder was stopped (SIGSTOP): continued it"


def test_asking_a_run_to_stop_continues_its_stopped_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_process.RecorderProcess, "keep_running", lambda _: None)
    ended = run(tmp_path, "say(start); time.sleep(600)", ask_with_stopped_recorder)
    assert verdict_of(ended).status == "interrupted"
    assert verdict_of(ended).facts.person.stopped_by == "rook stop"


DEAF = """
from nightrook.process.recorder import Recorder
Recorder._obey = lambda self: self._poll.unregister(0)
main()
"""


def test_a_recorder_that_hangs_does_not_hold_up_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = isolated_python._BOOT.replace("main()\n", DEAF)
    monkeypatch.setattr(isolated_python, "_BOOT", boot)
    monkeypatch.setattr(recorder_process, "_ANSWER_S", 0.1)
    ended = run(tmp_path, "say(start); time.sleep(600)", stop_stopped_recorder)
    assert verdict_of(ended).sentence == "interrupted by Ctrl-C, while it waited for the model"
    assert verdict_of(ended).facts.recorder.recorder_died


def test_a_recorder_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_python, "_BOOT", "raise OSError('no space for it')")
    ended = run(tmp_path, "say(start)")
    assert (verdict_of(ended).status, ended.exit_code) == ("not_started", 9)
    assert verdict_of(ended).sentence == "OSError: no space for it"


LEAVES = """
import subprocess
code = "open('child', 'w').write('x'); import time; time.sleep(600)"
child = [sys.executable, "-I", "-S", "-c", code]
null = subprocess.DEVNULL
subprocess.Popen(child, stdin=null, stdout=null, stderr=null, start_new_session=True)
until(lambda: os.path.exists("child"))
say(start); say(result)
"""


def test_processes_that_an_agent_left_running_are_ended_with_a_word(tmp_path: Path) -> None:
    verdict = verdict_of(run(tmp_path, LEAVES))
    assert len(verdict.facts.process.left_behind) == 1
    assert verdict.facts.process.left_behind[0].startswith("python")
    assert (
        "ended 1 process that the agent left running: python" in warnings(Ending.of_run(verdict))[0]
    )


@pytest.mark.parametrize("max_cost", [None, 1.0])
def test_the_prices_are_loaded_before_the_agent_uses_anything_if_there_is_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_cost: float | None
) -> None:
    loaded: list[int] = []
    monkeypatch.setattr(data_snapshot, "get_snapshot", lambda: loaded.append(1))
    ended = run(tmp_path, "say(start); say(result)", max_cost=max_cost)
    assert not ended.state.ledger.has_usage
    assert len(loaded) == (max_cost is not None)


SYNCED_ON_REQUEST = """
import os
real = os.fsync
def fsync(fd):
    real(fd)
    name = os.readlink(f"/proc/self/fd/{fd}")
    if name.endswith("stdout.raw"):
        with open(name) as log: size = len(log.read())
        with open(os.path.dirname(name) + "/synced", "w") as file: file.write(str(size))
os.fsync = fsync
"""


def test_a_result_is_on_disk_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = "import nightrook.process.recorder as r; r._SYNC_S = None\nmain()\n"
    boot = SYNCED_ON_REQUEST + isolated_python._BOOT.replace("main()\n", never)
    monkeypatch.setattr(isolated_python, "_BOOT", boot)
    code = """
say(start + result)
synced = folder + "/synced"
until(lambda: os.path.exists(synced) and open(synced).read() == str(len(start + result)))
"""
    facts = verdict_of(run(tmp_path, code)).facts
    assert (facts.process.agent_exit_code, facts.person.stopped_for) == (0, None)
