"""Crash recovery: a run that nobody saw end is judged by its log, once, and by one of many."""

import json
import os
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

from nightrook.model.errors import NightrookError
from nightrook.model.snapshot import TokenCounts
from nightrook.process import trees
from nightrook.process.liveness import is_stopped, start_ticks
from nightrook.runs.attached import ask_to_stop
from nightrook.runs.crash_recovery import recover, recovered
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import ExitInfo, VerdictInfo
from tests.flat_facts import flat_facts
from tests.process.recording import is_gone, wait_for
from tests.store.samples import EXIT, INFO, VERDICT, append, run_python

LOST = ExitInfo(
    started=True,
    stopped_for="lost",
    started_at=1000.5,
    ended_at=2000.0,
    complaint="its recorder died",
    lost_stdout=None,
    lost_stderr=None,
)
INCOMPLETE = VerdictInfo(
    status="incomplete",
    sentence="the recorder or the rook process died: ended without a result",
    exit_code=3,
    ended_at=2000.0,
    turns=0,
    model="big",
    tokens=TokenCounts(),
    files=[],
    saved_facts=flat_facts(agent="claude", recorder_died=True, lost_bytes=None).flat(),
)
STARTED = (
    json.dumps(
        {"type": "system", "subtype": "init", "session_id": "s-1", "model": "big", "cwd": "/work"}
    ).encode()
    + b"\n"
)
RESULT = (
    json.dumps(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "All done.",
            "session_id": "s-1",
            "total_cost_usd": 0.25,
        }
    ).encode()
    + b"\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path / "home", INFO)


def status_of(folder: RunFolder) -> tuple[str, int, str]:
    """How a run was judged."""
    verdict = folder.verdict()
    assert verdict is not None
    return verdict.status, verdict.exit_code, verdict.sentence


def everyone_dead(pid: int, ticks: int | None) -> bool:
    return False


def test_a_run_whose_runner_and_recorder_died_is_given_its_end(folder: RunFolder) -> None:
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert (folder.exit(), folder.verdict()) == (LOST, INCOMPLETE)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.path.iterdir()}
    assert modes == {"run.json": 0o600, "exit.json": 0o600, "verdict.json": 0o600}


def test_healing_twice_changes_nothing(folder: RunFolder) -> None:
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert not recover(folder, alive=everyone_dead, now=3000.0)
    assert (folder.exit(), folder.verdict()) == (LOST, INCOMPLETE)


def test_the_last_sign_of_life_is_the_end_of_a_lost_run(folder: RunFolder) -> None:
    append(folder, "arrivals", b"1500.000000 o 0 100\n1600.000000 e 0 1\n1700.0000")
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert folder.exit() == msgspec.structs.replace(LOST, ended_at=1600.0)
    assert folder.verdict() == msgspec.structs.replace(INCOMPLETE, ended_at=1600.0)


def test_how_the_recorder_saw_the_end_is_kept_and_judged(folder: RunFolder) -> None:
    told = msgspec.structs.replace(EXIT, complaint=None)
    append(folder, "stdout", STARTED)
    folder.write_exit(told)
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert folder.exit() == told
    assert status_of(folder) == ("timed_out", 124, "reached the time limit")


def test_an_exit_code_that_means_a_limit_of_turns_is_read_so(tmp_path: Path) -> None:
    asked = msgspec.structs.replace(INFO, agent="qwen")
    folder = create_run(tmp_path / "home", asked)
    append(folder, "stdout", STARTED)
    folder.write_exit(ExitInfo(started=True, exit_code=53, ended_at=1500.0))
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert status_of(folder) == ("over_budget", 5, "reached the agent's own limit of turns")


def test_a_lost_run_keeps_its_session_cost_and_answer(folder: RunFolder) -> None:
    append(folder, "stdout", STARTED + RESULT)
    append(folder, "arrivals", b"1500.000000 o 0 100\n")
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert folder.verdict() == VerdictInfo(
        status="success",
        sentence="done",
        exit_code=0,
        ended_at=1500.0,
        cost_usd=0.25,
        spent_usd=0.25,
        cost_source="native",
        turns=1,
        session="s-1",
        model="big",
        tokens=TokenCounts(),
        files=[],
        saved_facts=flat_facts(
            agent="claude",
            recorder_died=True,
            lost_bytes=None,
            heard=True,
            finished=True,
            ok=True,
            results=1,
        ).flat(),
    )
    assert folder.read_output() == "All done."


def test_a_lost_run_without_a_result_can_be_resumed(folder: RunFolder) -> None:
    append(folder, "stdout", STARTED)
    assert recover(folder, alive=everyone_dead, now=2000.0)
    verdict = folder.verdict()
    assert verdict is not None
    assert (verdict.status, verdict.session) == ("incomplete", "s-1")
    assert verdict.facts.recorder.recorder_died


def test_a_second_turn_that_was_cut_by_a_death_is_incomplete(folder: RunFolder) -> None:
    append(folder, "stdout", STARTED + RESULT + STARTED + RESULT[:40])
    assert recover(folder, alive=everyone_dead, now=2000.0)
    status, code, sentence = status_of(folder)
    assert (status, code) == ("incomplete", 3)
    assert sentence == "the recorder or the rook process died: the output is cut off"


@pytest.mark.parametrize(
    ("stopped_for", "expected"),
    [("runner_gone", "success"), ("finished", "success"), ("stopped", "success")],
)
def test_a_result_before_the_runner_died_is_judged_by_the_table(
    folder: RunFolder, stopped_for: str, expected: str
) -> None:
    append(folder, "stdout", STARTED + RESULT)
    folder.write_exit(ExitInfo(started=True, signal=15, stopped_for=stopped_for, ended_at=1700.0))
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert status_of(folder)[0] == expected


def test_a_run_whose_agent_never_started_is_healed_as_not_started(folder: RunFolder) -> None:
    folder.write_exit(ExitInfo(started=False, ended_at=1700.0, complaint="no program"))
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert status_of(folder) == ("not_started", 9, "no program")


@pytest.mark.parametrize(("code", "status"), [(0, "success"), (3, "failed")], ids=["good", "bad"])
def test_a_raw_command_is_judged_by_its_exit_code(tmp_path: Path, code: int, status: str) -> None:
    folder = create_run(tmp_path, msgspec.structs.replace(INFO, agent=None))
    append(folder, "stdout", b"so\n<response>42</response>\n")
    folder.write_exit(ExitInfo(started=True, exit_code=code, ended_at=1700.0))
    assert recover(folder, alive=everyone_dead, now=2000.0)
    assert status_of(folder)[0] == status
    assert folder.read_output() == "42"


def test_an_agent_of_a_later_version_is_healed_without_its_log(tmp_path: Path) -> None:
    folder = create_run(tmp_path, msgspec.structs.replace(INFO, agent="unheard-of"))
    append(folder, "stdout", b"{}\n")
    assert recover(folder, alive=everyone_dead, now=2000.0)
    facts = flat_facts(
        agent="unheard-of", recorder_died=True, lost_bytes=None, has_stream=False, heard=True
    )
    assert folder.verdict() == msgspec.structs.replace(
        INCOMPLETE, model=None, saved_facts=facts.flat()
    )


@pytest.mark.parametrize("living", [(4, 5), (6, 7)], ids=["runner", "recorder"])
def test_a_run_with_a_living_process_is_left_alone(
    living: tuple[int, int], folder: RunFolder
) -> None:
    assert not recover(folder, alive=lambda pid, ticks: (pid, ticks) == living, now=2000.0)
    assert (folder.exit(), folder.verdict()) == (None, None)


def test_a_run_that_was_judged_is_left_alone(folder: RunFolder) -> None:
    folder.write_verdict(VERDICT)
    assert not recover(folder, alive=everyone_dead, now=2000.0)
    assert (folder.exit(), folder.verdict()) == (None, VERDICT)


@pytest.mark.parametrize("data", [None, b"torn", b'{"format": 2}'])
def test_a_run_without_readable_info_is_left_alone(data: bytes | None, folder: RunFolder) -> None:
    (folder.path / "run.json").unlink()
    if data is not None:
        (folder.path / "run.json").write_bytes(data)
    assert not recover(folder, alive=everyone_dead, now=2000.0)
    assert not (folder.path / "verdict.json").exists()


def test_a_run_that_cannot_be_written_is_left_alone(folder: RunFolder) -> None:
    (folder.path / "exit.json").symlink_to("/nowhere")
    assert not recover(folder, alive=everyone_dead, now=2000.0)
    assert not (folder.path / "verdict.json").exists()


def test_a_run_that_was_removed_is_left_alone(folder: RunFolder) -> None:
    gone = RunFolder(folder.path.with_name("gone"))
    assert not recover(gone, alive=everyone_dead, now=2000.0)
    assert not gone.path.exists()


def test_a_verdict_that_comes_while_we_heal_is_not_overwritten(folder: RunFolder) -> None:
    def dies_after_judging(pid: int, ticks: int | None) -> bool:
        folder.write_exit(EXIT)
        folder.write_verdict(VERDICT)
        return False

    assert not recover(folder, alive=dies_after_judging, now=2000.0)
    assert (folder.exit(), folder.verdict()) == (EXIT, VERDICT)


RECOVERER = """
import sys
from nightrook.model.facts import Facts
from nightrook.runs.crash_recovery import recover
from nightrook.process.liveness import is_alive
from nightrook.store.list import newest_first

sys.stdin.read(1)
print(sum(recover(folder, alive=is_alive, now=2000.0) for folder in newest_first(sys.argv[1])))
"""


def test_of_two_processes_that_heal_at_once_each_run_is_healed_by_one(tmp_path: Path) -> None:
    dead = run_python("")
    dead.communicate()
    info = msgspec.structs.replace(INFO, runner_pid=dead.pid, recorder_pid=None)
    folders = [create_run(tmp_path, info) for _ in range(30)]
    recoverers = [run_python(RECOVERER, str(tmp_path)) for _ in range(2)]
    for recoverer in recoverers:
        assert recoverer.stdin is not None
        recoverer.stdin.write(b".")
        recoverer.stdin.flush()
    assert sum(int(recoverer.communicate()[0]) for recoverer in recoverers) == 30
    for folder in folders:
        assert (folder.exit(), folder.verdict()) == (LOST, INCOMPLETE)
        assert len(list(folder.path.iterdir())) == 3


def test_the_processes_that_outlived_a_recovered_run_are_ended(folder: RunFolder) -> None:
    marked = {**os.environ, trees.MARKER: str(folder.path)}
    left = subprocess.Popen(["sleep", "600"], env=marked)
    try:
        assert recovered(folder).verdict() is not None
        assert left.wait(60) == -signal.SIGKILL
    finally:
        left.kill()
        left.wait()


def test_a_process_that_is_not_the_recorder_is_not_signalled(folder: RunFolder) -> None:
    other = subprocess.Popen(["sleep", "600"])
    ticks = start_ticks(other.pid)
    assert ticks is not None
    info = msgspec.structs.replace(INFO, recorder_pid=other.pid, recorder_ticks=ticks - 10)
    folder.write_info(info)
    try:
        with pytest.raises(NightrookError, match="is not running"):
            ask_to_stop(folder)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


RUNNER = """
import asyncio, sys
from nightrook.config.options import RunOptions
from nightrook.runs.start import start_command

AGENT = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"

async def main():
    options = RunOptions(cwd=sys.argv[1], home=sys.argv[1])
    command = [sys.executable, "-I", "-S", "-c", AGENT]
    async with start_command(command, options, raw=True) as run:
        while not run.stdout().endswith(b"\\n"):
            await asyncio.sleep(0.01)
        print(run.folder.path, flush=True)
        await run.wait()

asyncio.run(main())
"""


def test_a_run_whose_recorder_is_stopped_and_whose_runner_was_killed_is_recovered(
    tmp_path: Path,
) -> None:
    runner = run_python(RUNNER, str(tmp_path))
    assert runner.stdout is not None
    folder = RunFolder(Path(os.fsdecode(runner.stdout.readline().strip())))
    info = folder.info()
    assert info is not None
    assert info.recorder_pid is not None
    agent = int((folder.path / "stdout.raw").read_text())
    os.kill(info.recorder_pid, signal.SIGSTOP)
    wait_for(lambda: is_stopped(info.recorder_pid or 0, info.recorder_ticks))
    runner.kill()
    runner.communicate()
    try:
        verdict = recovered(folder).verdict()
        assert verdict is not None
        assert verdict.status == "incomplete"
        wait_for(lambda: is_gone(agent))
    finally:
        trees.send([info.recorder_pid, agent], signal.SIGKILL)
